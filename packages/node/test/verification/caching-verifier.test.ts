import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { keysFromPassphrase, sha256, signEcdsa, signSchnorr, utf8ToBytes } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { CachingVerifier, type CachingVerifierOptions } from "../../src/verification/caching-verifier.ts";
import type { SignatureCheck } from "../../src/verification/packed-checks.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import { skips } from "../../test-support/process/available.ts";

const keys = keysFromPassphrase("one passphrase");
const { publicKey } = keys;
const hashOf = (text: string) => sha256(utf8ToBytes(text));

function checkOf(text: string, { isWrong = false, isSchnorr = false } = {}): SignatureCheck {
  const signature = (isSchnorr ? signSchnorr : signEcdsa)(hashOf(text), keys.privateKey);
  const hash = isWrong ? hashOf(`not ${text}`) : hashOf(text);
  return { hash, scheme: isSchnorr ? "schnorr" : "ecdsa", signature, publicKey };
}
const checks = (count: number, prefix = "") =>
  Array.from({ length: count }, (_, index) =>
    checkOf(`${prefix}${index}`, { isWrong: index % 3 === 0, isSchnorr: index % 2 === 0 }),
  );
const verdicts = (count: number) => Array.from({ length: count }, (_, index) => index % 3 !== 0);

/** Verifier over one of the calling thread that records how many signatures each of its calls had. */
function quickVerifier(options: Partial<CachingVerifierOptions> = {}) {
  const inner = new BatchVerifier({ threads: 0 });
  const requested: number[] = [];
  const verifier = new CachingVerifier(
    { ownPerTurn: 0, maxKnown: 100, ...options },
    {
      verify(given) {
        requested.push(given.length);
        return inner.verify(given);
      },
      close: () => inner.close(),
    },
  );
  return { verifier, requested };
}

const hasAddon = existsSync(
  new URL(`../../native/${process.platform}-${process.arch}.node`, import.meta.url),
);

const isSkipped = skips(hasAddon ? undefined : "the native addon for this platform is missing");

describe.skipIf(isSkipped)("signatures verified in the calling thread", () => {
  test("Signatures verified in the calling thread get the same verdicts, without another thread.", async () => {
    const { verifier, requested } = quickVerifier({ ownPerTurn: 16 });
    expect(await verifier.verify(checks(10))).toEqual(verdicts(10));
    expect(requested).toEqual([]);
  });

  test("Signatures verified in the calling thread are limited per event-loop tick.", async () => {
    const { verifier, requested } = quickVerifier({ ownPerTurn: 16 });
    const first = ["a", "b", "c"].map((prefix) => verifier.verify(checks(7, prefix)));
    expect(await Promise.all(first)).toEqual([verdicts(7), verdicts(7), verdicts(7)]);
    expect(requested).toEqual([7]);
    await nextTurn();
    expect(await verifier.verify(checks(16, "d"))).toEqual(verdicts(16));
    expect(requested).toEqual([7]);
    expect(await verifier.verify(checks(17, "e"))).toEqual(verdicts(17));
    expect(requested).toEqual([7, 17]);
  });
});

describe("signatures that are known to be valid", () => {
  test("Signatures that are known to be valid are not verified again, wherever they come from.", async () => {
    const { verifier, requested } = quickVerifier();
    await verifier.verify(checks(6));
    const mixed = [...checks(6), ...checks(4, "new")];
    expect(await verifier.verify(mixed)).toEqual([...verdicts(6), ...verdicts(4)]);
    // Two of the six were wrong.
    expect(requested).toEqual([6, 2 + 4]);
  });

  test("Signatures that are known to be valid are identified by every part of the check.", async () => {
    const { verifier, requested } = quickVerifier();
    const valid = checkOf("text");
    const other = keysFromPassphrase("another passphrase").publicKey;
    expect(await verifier.verify([valid])).toEqual([true]);
    const altered: SignatureCheck[] = [
      { ...valid, hash: hashOf("other") },
      { ...valid, publicKey: other },
      { ...valid, scheme: "schnorr" },
      { ...valid, signature: Uint8Array.of(...valid.signature, 0) },
      { ...valid, signature: valid.signature.subarray(1) },
    ];
    expect(await verifier.verify(altered)).toEqual(altered.map(() => false));
    expect(requested).toEqual([1, altered.length]);
  });

  test("Signatures that are known to be valid are bounded: new ones replace the oldest.", async () => {
    const { verifier, requested } = quickVerifier({ maxKnown: 10 });
    const all = Array.from({ length: 40 }, (_, index) => checkOf(`text ${index}`));
    for (const check of all) await verifier.verify([check]);
    expect(await verifier.verify(all)).toEqual(all.map(() => true));
    const forgotten = present(requested.at(-1), "the last of requested");
    expect(forgotten).toBeGreaterThanOrEqual(30);
    expect(forgotten).toBeLessThan(40);
  });

  test("Signatures that are known to be valid do not come from a synchronisation.", async () => {
    const { verifier, requested } = quickVerifier({ maxKnown: 1_000 });
    const all = Array.from({ length: 128 }, (_, index) => checkOf(`text ${index}`));
    await verifier.verify(all);
    await verifier.verify(all.slice(1));
    await verifier.verify(all.slice(1, 2));
    expect(requested).toEqual([128, 127]);
  });
});

test("A closed verifier refuses even cached signatures.", async () => {
  const { verifier } = quickVerifier({ ownPerTurn: 16 });
  const check = checkOf("text");
  await verifier.verify([check]);
  await verifier.close();
  await expect(verifier.verify([check])).rejects.toMatchObject({ code: "CALL_CLOSED" });
});
