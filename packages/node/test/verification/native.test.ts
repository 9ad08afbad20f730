import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bytesToHex,
  hexToBytes,
  keysFromPassphrase,
  selfTestCases,
  sha256,
  signEcdsa,
  signSchnorr,
} from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { loadNativeVerify, loadWebAssemblyVerify } from "../../src/verification/native.ts";
import { packChecks, type SignatureCheck } from "../../src/verification/packed-checks.ts";
import { createPackedVerify } from "../../src/verification/packed-verify.ts";
import { alteredSignature } from "./altered-signature.ts";

const compiled = [
  { name: "the addon", load: loadNativeVerify },
  { name: "the module for WebAssembly", load: loadWebAssemblyVerify },
];
const libauth = createPackedVerify();
const loaded = compiled.map(({ name, load }) => ({ name, verify: present(load(), "the result of load") }));

/** Expects the verdicts of libauth, which takes most of the time, from both. Returns them. */
function expectVerdicts(checks: readonly SignatureCheck[], calls = 1): Uint8Array {
  const packed = packChecks(checks);
  const expected = libauth(packed);
  for (const { name, verify } of loaded) {
    for (let call = 1; call <= calls; call++)
      expect(verify(packed), `${name}, call ${call}`).toEqual(expected);
  }
  return expected;
}

/** Signatures that can be packed. */
const isPackable = ({ hash, publicKey }: Pick<SignatureCheck, "hash" | "publicKey">) =>
  hash.length === 32 && publicKey.length === 33;

const recurringKeys = Array.from({ length: 4 }, (_, index) => keysFromPassphrase(`recurring ${index}`));

/** A signature of one of four keys; every third one is of another message. */
function recurringSignature(scheme: SignatureCheck["scheme"], index: number): SignatureCheck {
  const { privateKey, publicKey } = present(recurringKeys[index % 4]);
  const hash = sha256(Uint8Array.of(index, index >> 8));
  const sign = scheme === "ecdsa" ? signEcdsa : signSchnorr;
  return {
    scheme,
    hash: index % 3 === 0 ? sha256(hash) : hash,
    signature: sign(hash, privateKey),
    publicKey,
  };
}

describe.each(loaded)("$name", ({ verify }) => {
  test.each(["ecdsa", "schnorr"] as const)(
    "The addon returns the recorded verdicts of %s.json.",
    (scheme) => {
      const file = new URL(`../../../../test/vectors/crypto/${scheme}.json`, import.meta.url);
      const { cases } = JSON.parse(readFileSync(file, "utf8"));
      let count = 0;
      for (const { name, expect: recorded, ...hex } of cases) {
        const check = {
          scheme,
          hash: hexToBytes(hex.hash),
          signature: hexToBytes(hex.signature),
          publicKey: hexToBytes(hex.publicKey),
        };
        if (!isPackable(check)) continue;
        count++;
        expect(verify(packChecks([check]))[0], name).toBe((recorded?.valid ?? true) ? 1 : 0);
      }
      expect(count).toBeGreaterThan(40);
    },
  );
});

describe("the addon and the module for WebAssembly", () => {
  test("Property: Altered signatures get the verdict of libauth, one at a time and many at once.", () => {
    const packable = alteredSignature.filter(isPackable);
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(packable, { minLength: 1, maxLength: 20 }), (checks) => {
        const expected = expectVerdicts(checks);
        checks.forEach(({ scheme }, index) => {
          const kind = `${scheme} ${expected[index]}`;
          counts.set(kind, (counts.get(kind) ?? 0) + 1);
        });
      }),
      { numRuns: 400 },
    );
    expect(counts.size).toBe(4);
    for (const count of counts.values()) expect(count).toBeGreaterThan(100);
  });

  test("A zero before a byte of 0x7f, which needs none, makes a signature invalid.", () => {
    const { privateKey, publicKey } = keysFromPassphrase("strict form");
    const signed = (index: number) => {
      const hash = sha256(Uint8Array.of(index, index >> 8));
      return { scheme: "ecdsa" as const, hash, signature: signEcdsa(hash, privateKey), publicKey };
    };
    // The first integer begins at byte 4, and has 32 bytes.
    const isNext = ({ signature }: SignatureCheck) => signature[3] === 32 && signature[4] === 0x7f;
    let index = 0;
    while (!isNext(signed(index))) index++;
    const check = signed(index);
    const [tag = 0, length = 0, ...rest] = check.signature;
    const longer = Uint8Array.of(tag, length + 1, 2, 33, 0, ...rest.slice(2));
    expect(expectVerdicts([check, { ...check, signature: longer }])).toEqual(Uint8Array.of(1, 0));
  });

  test("Keys that recur get tables, and the verdicts of libauth.", () => {
    // Four keys have more signatures than the widest table needs, beside twenty others.
    const checks = fc.sample(alteredSignature.filter(isPackable), { numRuns: 600, seed: 1 });
    const signed = Array.from({ length: 4 * checks.length }, (_, index) =>
      recurringSignature(index % 5 < 2 ? "schnorr" : "ecdsa", index),
    );
    const mixed = checks.flatMap((check, index) => [check, ...signed.slice(index * 4, index * 4 + 4)]);
    const calls = Array.from({ length: mixed.length / 150 }, (_, call) =>
      mixed.slice(call * 150, call * 150 + 150),
    );
    let valid = 0;
    for (const call of calls) {
      const expected = expectVerdicts(call, 2);
      valid += expected.reduce((sum, verdict) => sum + verdict, 0);
    }
    expect(valid).toBeGreaterThan(1_500);
  });

  test("A key is cached by all of its bytes: the opposite one, in the same slot, is another.", () => {
    const [check] = fc.sample(alteredSignature.filter(isPackable), 1);
    const opposite = {
      ...present(check, "check"),
      publicKey: present(check, "check").publicKey.map((byte, at) => (at === 0 ? byte ^ 1 : byte)),
    };
    for (const checks of [
      [present(check, "check"), opposite],
      [opposite, present(check, "check")],
    ]) {
      expectVerdicts(checks);
    }
  });

  test("A call verifies as many signatures as it gets, also none and more than a call of the module has.", () => {
    const signed = Array.from({ length: 520 }, (_, index) => recurringSignature("ecdsa", index));
    const expected = libauth(packChecks(signed));
    for (const count of [0, 1, 127, 128, 129, 256, 257, 520]) {
      const packed = packChecks(signed.slice(0, count));
      for (const { name, verify } of loaded)
        expect(verify(packed), `${name}, ${count}`).toEqual(expected.slice(0, count));
    }
  });
});

test("The self-test uses the verdicts of libauth.", () => {
  const known = selfTestCases()
    .filter(isPackable)
    .map(({ hash, signature, publicKey, ...shown }) => ({
      ...shown,
      hash: bytesToHex(hash),
      signature: bytesToHex(signature),
      publicKey: bytesToHex(publicKey),
    }));
  const file = join(import.meta.dirname, "../../native/known-verdicts.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(known);
});

test("A pair that does not consist of matching byte arrays is an error of the addon, and is not read.", () => {
  const addon = join(import.meta.dirname, "../../native/linux-x64.node");
  const { verify } = process.getBuiltinModule("module").createRequire(import.meta.url)(addon);
  for (const given of [[], [1, 2], [new Uint8Array(139)], [new Uint8Array(139), new Uint8Array(2)]]) {
    expect(() => verify(...given)).toThrow(TypeError);
  }
});
