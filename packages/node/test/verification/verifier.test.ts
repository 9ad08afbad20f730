import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { keysFromPassphrase, sha256, signEcdsa, signSchnorr, utf8ToBytes } from "@uniknode/protocol";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { SignatureCheck } from "../../src/verification/packed-checks.ts";
import { BatchVerifier, type Verifier } from "../../src/verification/verifier.ts";

const keys = keysFromPassphrase("one passphrase");
const { publicKey } = keys;
const hashOf = (text: string) => sha256(utf8ToBytes(text));

/** Checks of both kinds, some of them wrong, with the verdicts they must get. */
function mixedChecks(count: number): { checks: SignatureCheck[]; verdicts: boolean[] } {
  const checks = Array.from({ length: count }, (_, index) => {
    const hash = hashOf(`message ${index}`);
    const isSchnorr = index % 2 === 0;
    const signature = (isSchnorr ? signSchnorr : signEcdsa)(hash, keys.privateKey);
    const scheme = isSchnorr ? ("schnorr" as const) : ("ecdsa" as const);
    return { hash: index % 3 === 0 ? hashOf("another") : hash, scheme, signature, publicKey };
  });
  return { checks, verdicts: checks.map((_, index) => index % 3 !== 0) };
}

let verifier: Verifier | undefined;
afterEach(() => verifier?.close());

describe.each([{ threads: 0 }, { threads: 2 }])("a verifier with $threads threads", (options) => {
  test("A verifier returns a verdict for each signature, over several batches.", async () => {
    verifier = new BatchVerifier(options);
    const { checks, verdicts } = mixedChecks(300);
    expect(await verifier.verify(checks)).toEqual(verdicts);
  });

  test("A verifier serves several callers at once.", async () => {
    verifier = new BatchVerifier(options);
    const sets = [1, 2, 130, 5].map(mixedChecks);
    expect(await Promise.all(sets.map(({ checks }) => present(verifier, "verifier").verify(checks)))).toEqual(
      sets.map(({ verdicts }) => verdicts),
    );
  });

  test("A verifier returns the verdicts of many small calls of one tick, and of later ticks, to their callers.", async () => {
    verifier = new BatchVerifier(options);
    const sets = Array.from({ length: 200 }, (_, index) => mixedChecks(index % 4));
    for (const part of [sets.slice(0, 150), sets.slice(150)]) {
      const verdicts = await Promise.all(
        part.map(({ checks }) => present(verifier, "verifier").verify(checks)),
      );
      expect(verdicts).toEqual(part.map((set) => set.verdicts));
    }
  });

  test("A verifier returns no verdicts for an empty batch.", async () => {
    verifier = new BatchVerifier(options);
    expect(await verifier.verify([])).toEqual([]);
  });

  test("A verifier refuses malformed signatures.", async () => {
    verifier = new BatchVerifier(options);
    const hash = hashOf("message");
    const valid = signEcdsa(hash, keys.privateKey);
    const signatures = [
      new Uint8Array(0),
      new Uint8Array(64),
      new Uint8Array(73).fill(0x30),
      new Uint8Array(200),
      Uint8Array.of(...valid, 0),
      valid.subarray(1),
      valid,
    ];
    const check = { hash, scheme: "ecdsa" as const, signature: valid, publicKey };
    const checks = signatures.map((signature) => ({ ...check, signature }));
    const verdicts = signatures.map((signature) => signature === valid);
    expect(await verifier.verify(checks)).toEqual(verdicts);
    expect(await verifier.verify([{ ...check, publicKey: new Uint8Array(33) }])).toEqual([false]);
    expect(await verifier.verify([{ ...check, scheme: "schnorr" }])).toEqual([false]);
  });

  test("A verifier rejects calls after it was closed.", async () => {
    verifier = new BatchVerifier(options);
    await verifier.close();
    await expect(verifier.verify(mixedChecks(1).checks)).rejects.toThrow();
  });
});

/** Code of a thread that does something with the first batch of the first thread. */
function misbehavingOnce(what: string): URL {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-verifier-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "thread.mjs");
  writeFileSync(
    file,
    `import fs from "node:fs";
     import { parentPort } from "node:worker_threads";
     const mark = ${JSON.stringify(join(folder, "mark"))};
     if (!fs.existsSync(mark)) {
       fs.writeFileSync(mark, "");
       parentPort.once("message", () => { ${what} });
     }
     await import(${JSON.stringify(import.meta.resolve("../../src/verification/signature-thread.ts"))});`,
  );
  return pathToFileURL(file);
}

test.each([
  ["dies", "process.exit(1);", 300_000, "CALL_CLOSED"],
  ["hangs", "for (;;);", 6_000, "CALL_TIMEOUT"],
])(
  "A thread that %s is replaced; its calls are rejected and can be repeated.",
  async (_, what, timeoutMs, code) => {
    verifier = new BatchVerifier({ threads: 1, module: misbehavingOnce(what), timeoutMs });
    const { checks, verdicts } = mixedChecks(3);
    await expect(verifier.verify(checks)).rejects.toMatchObject({ code, isRetryable: true });
    expect(await verifier.verify(checks)).toEqual(verdicts);
  },
);

test("Calls beside one that hangs get their verdicts from another thread.", async () => {
  const stalling = new BatchVerifier({
    threads: 1,
    module: misbehavingOnce("for (;;);"),
    timeoutMs: 300_000,
  });
  verifier = stalling;
  // The first ones share a batch, the large one follows it.
  const sets = [1, 2, 5, 130].map(mixedChecks);
  const verdicts = sets.map(async ({ checks }, index) => {
    if (index === 3) await nextTick().then(nextTick);
    return stalling.verify(checks);
  });
  expect(await Promise.all(verdicts)).toEqual(sets.map((set) => set.verdicts));
  const later = mixedChecks(3);
  expect(await stalling.verify(later.checks)).toEqual(later.verdicts);
});

test("Calls after one whose thread dies get their verdicts from another thread.", async () => {
  const what = "setTimeout(() => process.exit(1))";
  const dying = new BatchVerifier({ threads: 1, module: misbehavingOnce(what) });
  verifier = dying;
  const sets = [1, 2, 5, 130, 300].map(mixedChecks);
  const settled = await Promise.allSettled(sets.map(({ checks }) => dying.verify(checks)));
  expect(settled.filter(({ status }) => status === "rejected").length).toBeLessThan(2);
});
