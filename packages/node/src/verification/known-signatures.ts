/**
 * Cache of recently verified signatures: a transaction that was checked when it entered the pool appears
 * again in a block. Validity depends only on the check itself.
 */
import type { SignatureCheck } from "./packed-checks.ts";

export type KnownSignatures = {
  has(check: SignatureCheck): boolean;
  /** Replaces the oldest signatures if there are too many. */
  add(check: SignatureCheck): void;
};

/** @param max number of signatures, of about 200 bytes each */
export function createKnownSignatures(max: number): KnownSignatures {
  // Two halves, of which the older one is dropped as a whole.
  let older = new Set<string>();
  let newer = new Set<string>();

  return {
    has(check) {
      if (newer.size === 0) return false;
      const key = keyOf(check);
      return newer.has(key) || older.has(key);
    },
    add(check) {
      if (newer.size >= max / 2) {
        older = newer;
        newer = new Set();
      }
      newer.add(keyOf(check));
    },
  };
}

const SCHNORR = "\x01";
const ECDSA = "\x00";

/** All of the check; only its last part has a length that varies. */
const keyOf = ({ hash, publicKey, scheme, signature }: SignatureCheck): string =>
  (scheme === "schnorr" ? SCHNORR : ECDSA) + textOf(hash) + textOf(publicKey) + textOf(signature);

const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
