import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSignatureBackend, hexToBytes, verifyEcdsa, verifySchnorr } from "@uniknode/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { AcceleratorError, loadAccelerator } from "../../src/verification/accelerator.ts";
import { selectBackend } from "../../src/verification/backend.ts";
import type { SignatureCheck } from "../../src/verification/packed-checks.ts";
import { createVerifier } from "../../src/verification/verifier.ts";
import { alteredSignature } from "./altered-signature.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-accelerator-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Package in the form of the accelerator, with some members of its module. */
function install(name: string, version: string, members: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, "lib"), { recursive: true });
  writeFileSync(join(path, "package.json"), JSON.stringify({ name: "bcrypto", version }));
  writeFileSync(join(path, "lib", "secp256k1.js"), `module.exports = { ${members} };`);
  return path;
}

/** Reply of a thread, and its other messages, if an accelerator is requested. */
function runThread(source: string): { stdout: string; stderr: string } {
  const program = join(import.meta.dirname, "verify-in-thread.ts");
  const env = { ...process.env, UNIKNODE_ACCELERATOR: source };
  return spawnSync(process.execPath, [program], { env, encoding: "utf8" });
}

const CREDULOUS = "isLowDER: () => true, verifyDER: () => true, schnorrVerify: () => true";

describe("choice of the implementation that verifies signatures", () => {
  test("without an accelerator it is the addon, and WebAssembly on request", async () => {
    for (const source of [undefined, ""]) {
      expect(await selectBackend(source)).toMatchObject({ name: "libsecp256k1 (native)" });
    }
    expect(await selectBackend("none")).toMatchObject({ name: defaultSignatureBackend.name });
  });

  test.each([
    ["is not installed", () => "no-such-package", /Cannot find module/],
    ["is not in its folder", () => join(folder, "nothing"), /Cannot find module/],
    [
      "is of a version that was not compared",
      () => install("new", "6.0.0", `native: 2, ${CREDULOUS}`),
      /6\.0\.0/,
    ],
    ["runs in JavaScript", () => install("slow", "5.5.2", `native: 0, ${CREDULOUS}`), /native/],
    ["uses another library", () => install("other", "5.5.2", `native: 1, ${CREDULOUS}`), /native/],
    ["gives wrong verdicts", () => install("wrong", "5.5.2", `native: 2, ${CREDULOUS}`), /wrong for ecdsa/],
    ["lacks a function", () => install("bare", "5.5.2", "native: 2"), /wrong for ecdsa/],
    ["cannot be loaded", () => install("broken", "5.5.2", "...missing"), /missing is not defined/],
  ])("an accelerator that %s is refused", async (_, sourceOf, reason) => {
    const source = sourceOf();
    expect(() => loadAccelerator(source)).toThrow(AcceleratorError);
    const { name, refusal } = await selectBackend(source);
    expect(name).toBe(defaultSignatureBackend.name);
    expect(refusal).toMatchObject({ code: "ACCELERATOR", source, message: expect.stringMatching(reason) });
  });

  test("a thread warns of a refused one, and continues with the default", () => {
    const wrong = install("wrong", "5.5.2", `native: 2, ${CREDULOUS}`);
    const { stdout, stderr } = runThread(wrong);
    expect(stdout).toBe("true,false");
    expect(stderr).toContain(`failed to load the signature accelerator "${wrong}"`);
  });
});

/** Run with UNIKNODE_ACCELERATOR naming an installed accelerator (docs/guides/accelerator.md). */
const source = process.env.UNIKNODE_ACCELERATOR;

describe.skipIf(!source)(`the accelerator ${source ?? "(UNIKNODE_ACCELERATOR is not set)"}`, () => {
  const load = () => loadAccelerator(present(source, "source"));
  const verdict = (check: SignatureCheck, by = defaultSignatureBackend) =>
    (check.scheme === "ecdsa" ? verifyEcdsa : verifySchnorr)(
      check.hash,
      check.signature,
      check.publicKey,
      by,
    );

  test.each(["ecdsa", "schnorr"] as const)(
    "returns the recorded verdict on every signature of %s.json",
    (scheme) => {
      const accelerator = load();
      const file = new URL(`../../../../test/vectors/crypto/${scheme}.json`, import.meta.url);
      const { cases } = JSON.parse(readFileSync(file, "utf8"));
      expect(cases.length).toBeGreaterThan(40);
      for (const { name, expect: recorded, ...hex } of cases) {
        const hash = hexToBytes(hex.hash);
        const check = {
          scheme,
          hash,
          signature: hexToBytes(hex.signature),
          publicKey: hexToBytes(hex.publicKey),
        };
        expect(verdict(check, accelerator), name).toBe(recorded?.valid ?? true);
      }
    },
  );

  test("property: altered signatures get the verdict of the default", () => {
    const accelerator = load();
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(alteredSignature, (check) => {
        const expected = verdict(check);
        expect(verdict(check, accelerator)).toBe(expected);
        const kind = `${check.scheme} ${expected}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }),
      { numRuns: 4_000 },
    );
    // There were enough of each.
    expect(counts.size).toBe(4);
    for (const count of counts.values()) expect(count).toBeGreaterThan(200);
  });

  test("a verifier returns the same verdicts with it, in threads", async () => {
    const checks = fc
      .sample(alteredSignature, 1_000)
      .filter(({ hash, publicKey }) => hash.length === 32 && publicKey.length === 33);
    const verifier = createVerifier({ threads: 2, accelerator: source });
    expect(await verifier.verify(checks)).toEqual(checks.map((check) => verdict(check)));
    await verifier.close();
  });

  test("a thread uses it", () => {
    const mark = join(folder, "used");
    const real = createRequire(import.meta.url).resolve(`${source}/lib/secp256k1.js`);
    const members = `...require(${JSON.stringify(real)}),
      schnorrVerify(...input) {
        require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");
        return require(${JSON.stringify(real)}).schnorrVerify(...input);
      }`;
    const spied = install("spied", "5.5.2", members);
    expect(runThread(spied)).toMatchObject({ stdout: "true,false", stderr: "" });
    expect(existsSync(mark)).toBe(true);
  });
});
