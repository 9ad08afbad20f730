/**
 * Verifies in the calling thread what needs no other thread: signatures that are known to be valid, small calls, and single
 * signatures. A message to another thread and back costs as much as several signatures.
 */
import { CallError } from "../platform/threads/call.ts";
import { loadNativeVerify } from "./native.ts";
import { type PackedVerify, packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./packed-verify.ts";
import type { Verifier } from "./verifier.ts";

export type CachingVerifierOptions = {
  /** Signatures that the calling thread verifies in each tick of its event loop; 0 for none. */
  readonly ownPerTurn: number;
  /** Valid signatures that are remembered, about 200 bytes each. */
  readonly maxKnown: number;
};

/** Larger calls come from a synchronization (`splitBatch`), which verifies each signature once. */
const MAX_REMEMBERED = 127;

export class CachingVerifier implements Verifier {
  readonly #ownPerTurn: number;
  /** Verifies what the calling thread does not; closed together with this one. */
  readonly #verifier: Verifier;
  readonly #known: KnownSignatures;
  /** The addon, which is loaded for the first signature; null if it cannot be used. */
  #verifyNow: PackedVerify | null | undefined;
  /** Signatures that the calling thread may verify in this tick. */
  #left: number;
  #isClosed = false;

  constructor({ ownPerTurn, maxKnown }: CachingVerifierOptions, verifier: Verifier) {
    this.#ownPerTurn = ownPerTurn;
    this.#left = ownPerTurn;
    this.#known = new KnownSignatures(maxKnown);
    this.#verifier = verifier;
  }

  async verify(checks: readonly SignatureCheck[]): Promise<boolean[]> {
    if (this.#isClosed) throw new CallError("CALL_CLOSED", "the verifier was closed");
    const isKnown = checks.map((check) => this.#known.has(check));
    const unknown = checks.filter((_, index) => !isKnown[index]);
    const given = (unknown.length > 0 ? await this.#verifyUnknown(unknown) : []).values();
    return isKnown.map((isValid) => isValid || given.next().value === true);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#verifier.close();
  }

  async #verifyUnknown(checks: readonly SignatureCheck[]): Promise<boolean[]> {
    const verdicts = this.#verifyOwn(checks) ?? (await this.#verifier.verify(checks));
    if (checks.length <= MAX_REMEMBERED) {
      for (const [index, check] of checks.entries()) if (verdicts[index]) this.#known.add(check);
    }
    return verdicts;
  }

  /** Returns the verdicts in order; undefined without the addon, or if the checks exceed the remainder of this tick. */
  #verifyOwn(checks: readonly SignatureCheck[]): boolean[] | undefined {
    if (checks.length > this.#left) return undefined;
    if (this.#verifyNow === undefined) this.#verifyNow = nativeVerify() ?? null;
    if (this.#verifyNow === null) return undefined;
    if (this.#left === this.#ownPerTurn) {
      setImmediate(() => {
        this.#left = this.#ownPerTurn;
      });
    }
    this.#left -= checks.length;
    return Array.from(this.#verifyNow(packChecks(checks)), (verdict) => verdict === 1);
  }
}

/** Verifies single signatures in the calling thread: with the addon if it works, otherwise with WebAssembly. */
export function createVerifyNow(): (check: SignatureCheck) => boolean {
  let verify: PackedVerify | undefined;
  return (check) => {
    verify ??= nativeVerify() ?? createPackedVerify();
    return verify(packChecks([check]))[0] === 1;
  };
}

/** Errors are ignored here: the verifier threads report an addon that cannot be used. */
function nativeVerify(): PackedVerify | undefined {
  try {
    return loadNativeVerify();
  } catch {
    return undefined;
  }
}

/**
 * Recently verified signatures: a transaction that was checked when it entered the pool appears again in a block. Validity
 * depends only on the check itself.
 */
class KnownSignatures {
  readonly #max: number;
  // Two halves, of which the older one is dropped as a whole.
  #older = new Set<string>();
  #newer = new Set<string>();

  /** @param max number of signatures, of about 200 bytes each */
  constructor(max: number) {
    this.#max = max;
  }

  has(check: SignatureCheck): boolean {
    if (this.#newer.size === 0) return false;
    const key = keyOf(check);
    return this.#newer.has(key) || this.#older.has(key);
  }

  /** Replaces the oldest signatures if there are too many. */
  add(check: SignatureCheck): void {
    if (this.#newer.size >= this.#max / 2) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(keyOf(check));
  }
}

const SCHNORR = "\x01";
const ECDSA = "\x00";

/** The parts of a check; only the last one has a length that varies. */
const keyOf = ({ hash, publicKey, scheme, signature }: SignatureCheck): string =>
  (scheme === "schnorr" ? SCHNORR : ECDSA) + textOf(hash) + textOf(publicKey) + textOf(signature);

const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
