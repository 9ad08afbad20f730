/** Few signatures are verified in the thread that asks: a message to another thread and back takes as long as several of them. */
import { loadNativeVerify } from "./native.ts";
import { type PackedVerify, packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./signatures.ts";

/** Whether each signature is valid, in order; undefined when they are more than are left for this turn. */
export type OwnVerify = (checks: readonly SignatureCheck[]) => boolean[] | undefined;

/**
 * Verifies with the addon only, which is loaded with the first signature; where there is none that works, nothing.
 *
 * @param perTurn maximum of signatures in one turn of the event loop
 */
export function createOwnVerify(perTurn: number): OwnVerify {
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

/** Verifies single signatures in the calling thread: with the addon if it is allowed and works, otherwise with WebAssembly. */
export function createVerifyNow(usesAddon: boolean): (check: SignatureCheck) => boolean {
  let verify: PackedVerify | undefined;
  return (check) => {
    verify ??= (usesAddon ? nativeVerify() : undefined) ?? createPackedVerify();
    return verify(packChecks([check]))[0] === 1;
  };
}

/** The threads say what is wrong with one that they cannot use, either. */
function nativeVerify(): PackedVerify | undefined {
  try {
    return loadNativeVerify();
  } catch {
    return undefined;
  }
}
