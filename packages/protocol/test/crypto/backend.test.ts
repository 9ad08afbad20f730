import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  concatBytes,
  defaultSignatureBackend,
  disagreementOf,
  hexToBytes,
  isReadableDer,
  keysFromPassphrase,
  type SignatureBackend,
  sha256,
  signEcdsa,
  signSchnorr,
  verifyEcdsa,
  verifySchnorr,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { add, decompress, der, G, multiply, N, toInteger } from "../../test-support/arithmetic.ts";

type VectorCase = { name: string; hash: string; signature: string; publicKey: string };

const vectors = (name: string): VectorCase[] =>
  JSON.parse(readFileSync(new URL(`../../../../test/vectors/crypto/${name}.json`, import.meta.url), "utf8"))
    .cases;

/** Accepts everything, and records its calls. */
function createCredulous() {
  const requested: { hash: Uint8Array; signature: Uint8Array; publicKey: Uint8Array }[] = [];
  const ask = (hash: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) =>
    requested.push({ hash, signature, publicKey }) > 0;
  return { requested, name: "credulous", verifyEcdsa: ask, verifySchnorr: ask };
}

const { privateKey, publicKey } = keysFromPassphrase("key");
const hash = sha256(publicKey);
const ecdsa = signEcdsa(hash, privateKey);
const schnorr = signSchnorr(hash, privateKey);

describe("the checks before a backend", () => {
  test("A well-formed signature gets the verdict of the given backend.", () => {
    const credulous = createCredulous();
    expect(verifyEcdsa(new Uint8Array(32), ecdsa, publicKey, credulous)).toBe(true);
    expect(verifySchnorr(new Uint8Array(32), schnorr, publicKey, credulous)).toBe(true);
    expect(credulous.requested.map(({ signature }) => signature)).toEqual([ecdsa, schnorr]);
  });

  test.each([
    ["a short hash", { hash: hash.subarray(1) }],
    ["a long hash", { hash: concatBytes(hash, hash) }],
    ["no key", { publicKey: new Uint8Array(0) }],
    ["a key without its prefix", { publicKey: publicKey.subarray(1) }],
    ["a long key", { publicKey: new Uint8Array(66).fill(4) }],
    ["no signature", { signature: new Uint8Array(0) }],
    [
      "an additional byte after the signature",
      { signature: (good: Uint8Array) => concatBytes(good, Uint8Array.of(0)) },
    ],
    ["a missing byte of the signature", { signature: (good: Uint8Array) => good.subarray(0, -1) }],
    [
      "the signature of the other scheme",
      { signature: (good: Uint8Array) => (good === ecdsa ? schnorr : ecdsa) },
    ],
  ])("%s never reaches it", (_, altered) => {
    const credulous = createCredulous();
    for (const [verify, good] of [[verifyEcdsa, ecdsa] as const, [verifySchnorr, schnorr] as const]) {
      const input = { hash, publicKey, signature: good, ...altered };
      const signature = typeof input.signature === "function" ? input.signature(good) : input.signature;
      expect(verify(input.hash, signature, input.publicKey, credulous)).toBe(false);
    }
    expect(credulous.requested).toEqual([]);
  });

  test("Only strict DER and 64 bytes of the recorded signatures reach the backend.", () => {
    const credulous = createCredulous();
    for (const { hash, signature, publicKey } of vectors("ecdsa")) {
      verifyEcdsa(hexToBytes(hash), hexToBytes(signature), hexToBytes(publicKey), credulous);
    }
    for (const { signature } of credulous.requested) {
      const [r, s] = integersOf(signature);
      expect(isReadableDer(signature)).toBe(true);
      expect(der(r, s)).toEqual(signature);
    }
    const schnorrAsked = createCredulous();
    for (const { hash, signature, publicKey } of vectors("schnorr")) {
      verifySchnorr(hexToBytes(hash), hexToBytes(signature), hexToBytes(publicKey), schnorrAsked);
    }
    expect(credulous.requested.length).toBeGreaterThan(20);
    expect(schnorrAsked.requested.length).toBeGreaterThan(20);
    expect(schnorrAsked.requested.every(({ signature }) => signature.length === 64)).toBe(true);
  });
});

const integersOf = (signature: Uint8Array): [bigint, bigint] => {
  const sAt = 4 + present(signature[3], "an item of signature");
  return [toInteger(signature.subarray(4, sAt)), toInteger(signature.subarray(sAt + 2))];
};

describe("the self-test of a backend", () => {
  const except = (changed: Partial<SignatureBackend>) => ({ ...defaultSignatureBackend, ...changed });

  test("The default backend passes the self-test.", () => {
    expect(disagreementOf(defaultSignatureBackend)).toBeUndefined();
  });

  test.each([
    ["accepts everything", createCredulous(), "ecdsa: another hash"],
    ["refuses every Schnorr signature", except({ verifySchnorr: () => false }), "schnorr: a valid signature"],
    [
      "throws if a key is not a point",
      except({
        verifyEcdsa(hash, signature, publicKey) {
          if (publicKey[0] === 5) throw new Error("no point");
          return defaultSignatureBackend.verifyEcdsa(hash, signature, publicKey);
        },
      }),
      "ecdsa: a key without a point",
    ],
    [
      "accepts the high s as the low one",
      except({
        verifyEcdsa(hash, signature, publicKey) {
          const [r, s] = integersOf(signature);
          return defaultSignatureBackend.verifyEcdsa(hash, der(r, s > N / 2n ? N - s : s), publicKey);
        },
      }),
      "ecdsa: a high s",
    ],
    [
      "accepts R at infinity",
      except({
        verifySchnorr: (hash, signature, key) =>
          nonceOf(hash, signature, key) === undefined ||
          defaultSignatureBackend.verifySchnorr(hash, signature, key),
      }),
      "schnorr: R at infinity",
    ],
    [
      "wants y(R) to be even, as BIP-340 does",
      except({
        verifySchnorr: (hash, signature, key) =>
          defaultSignatureBackend.verifySchnorr(hash, signature, key) &&
          present(nonceOf(hash, signature, key), "the result of nonceOf").y % 2n === 0n,
      }),
      "schnorr: a valid signature",
    ],
  ])("A backend that %s is detected.", (_, backend, name) => expect(disagreementOf(backend)).toBe(name));

  test("Any single wrong verdict of a backend is detected.", () => {
    let calls = 0;
    let wrongAt = -1;
    const lie = (verdict: boolean) => (calls++ === wrongAt ? !verdict : verdict);
    const { verifyEcdsa, verifySchnorr } = defaultSignatureBackend;
    const liar: SignatureBackend = {
      name: "liar",
      verifyEcdsa: (...input) => lie(verifyEcdsa(...input)),
      verifySchnorr: (...input) => lie(verifySchnorr(...input)),
    };
    expect(disagreementOf(liar)).toBeUndefined();
    const all = calls;
    for (wrongAt = 0; wrongAt < all; wrongAt += 17) {
      calls = 0;
      expect(disagreementOf(liar)).toBeDefined();
    }
  });
});

/** R = s*G - e*P. */
function nonceOf(hash: Uint8Array, signature: Uint8Array, key: Uint8Array) {
  const point = decompress(key.length === 33 ? key : publicKey);
  const e = toInteger(sha256(concatBytes(signature.subarray(0, 32), key, hash)));
  return add(multiply(G, toInteger(signature.subarray(32))), multiply(point, N - (e % N)));
}
