/**
 * The curve of `curve.node.ts` for a browser: a seventh of the size, and no WebAssembly. It is slower, which
 * matters only when verifying the transactions of a whole chain.
 */
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { Curve } from "./curve.node.ts";
import { toHex } from "./primitives.browser.ts";

const { Point, utils } = secp256k1;
const { Fn, Fp } = Point;
const DIGEST = { prehash: false, lowS: true, format: "der" } as const;

export const name = "noble (JavaScript)";

export const curve: Curve = {
  validatePrivateKey: (key) => utils.isValidSecretKey(key),
  derivePublicKeyCompressed: (key) => orText(() => secp256k1.getPublicKey(key, true)),
  derivePublicKeyUncompressed: (key) => orText(() => secp256k1.getPublicKey(key, false)),
  uncompressPublicKey: (key) => orText(() => pointOf(key).toBytes(false)),
  addTweakPrivateKey: (key, tweak) => orText(() => secretOf(Fn.add(Fn.fromBytes(key), Fn.fromBytes(tweak)))),
  mulTweakPrivateKey: (key, tweak) => orText(() => secretOf(Fn.mul(Fn.fromBytes(key), Fn.fromBytes(tweak)))),
  signMessageHashDER: (key, hash) => orText(() => secp256k1.sign(hash, key, DIGEST)),
  verifySignatureDERLowS: (signature, publicKey, hash) =>
    orFalse(() => secp256k1.verify(signature, hash, pointOf(publicKey).toBytes(), DIGEST)),
  // R = s*G - e*P has the x of the signature, and a y that is a square.
  verifySignatureSchnorr: (signature, publicKey, hash) =>
    orFalse(() => {
      const rx = signature.subarray(0, 32);
      const s = Fn.fromBytes(signature.subarray(32));
      const point = pointOf(publicKey);
      const e = Fn.create(BigInt(`0x${toHex(sha256(Uint8Array.of(...rx, ...point.toBytes(), ...hash)))}`));
      const { x, y } = Point.BASE.multiplyUnsafe(s).subtract(point.multiplyUnsafe(e)).toAffine();
      return x === Fp.fromBytes(rx) && Fp.pow(y, (Fp.ORDER - 1n) / 2n) === 1n;
    }),
};

/** Compressed, uncompressed, or hybrid: 06 or 07 with both coordinates, by the parity of y (identities.md 6). */
function pointOf(key: Uint8Array): InstanceType<typeof Point> {
  const [first = 0] = key;
  const isHybrid = key.length === 65 && (first === 6 || first === 7);
  if (!isHybrid) return Point.fromBytes(key);
  if ((key[64] ?? 0) % 2 !== first % 2) throw new RangeError("a hybrid key of the wrong parity");
  return Point.fromBytes(Uint8Array.of(4, ...key.subarray(1)));
}

/** @throws {RangeError} for zero, which is not a key */
function secretOf(scalar: bigint): Uint8Array {
  if (scalar === 0n) throw new RangeError("zero is not a private key");
  return Fn.toBytes(scalar);
}

function orText(compute: () => Uint8Array): Uint8Array | string {
  try {
    return compute();
  } catch (error) {
    return String(error);
  }
}

function orFalse(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}
