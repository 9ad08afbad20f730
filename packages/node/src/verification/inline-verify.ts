/**
 * Verifies small calls in the calling thread: a message to another thread and back costs as much as several
 * signatures.
 */
import { loadNativeVerify } from "./native.ts";
import { type PackedVerify, packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./packed-verify.ts";

/** Returns the verdicts in order; undefined if the checks exceed the remainder of this tick. */
export type InlineVerify = (checks: readonly SignatureCheck[]) => boolean[] | undefined;

/**
 * Verifies only with the addon, which is loaded for the first signature; verifies nothing if it cannot be
 * used.
 *
 * @param perTurn maximum of signatures in one tick of the event loop
 */
export function createInlineVerify(perTurn: number): InlineVerify {
  let verify: PackedVerify | null | undefined;
  let left = perTurn;

  function beginTurn(): void {
    left = perTurn;
  }

  return (checks) => {
    if (checks.length > left) return undefined;
    if (verify === undefined) verify = nativeVerify() ?? null;
    if (verify === null) return undefined;
    if (left === perTurn) setImmediate(beginTurn);
    left -= checks.length;
    return Array.from(verify(packChecks(checks)), (verdict) => verdict === 1);
  };
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
