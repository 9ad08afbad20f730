/**
 * Verifies in the calling thread what needs no other thread: signatures that are known to be valid, and small
 * calls.
 */
import { CallError } from "../platform/threads/call.ts";
import { createInlineVerify } from "./inline-verify.ts";
import { createKnownSignatures } from "./known-signatures.ts";
import type { SignatureCheck } from "./packed-checks.ts";
import type { Verifier } from "./verifier.ts";

export type CachingVerifierOptions = {
  /** Signatures that the calling thread verifies in each tick of its event loop; 0 for none. */
  readonly ownPerTurn: number;
  /** Valid signatures that are remembered, about 200 bytes each. */
  readonly maxKnown: number;
};

/** Larger calls come from a synchronization (`splitBatch`), which verifies each signature once. */
const MAX_REMEMBERED = 127;

/** @param verifier verifies everything else; closed together with this one */
export function createCachingVerifier(
  { ownPerTurn, maxKnown }: CachingVerifierOptions,
  verifier: Verifier,
): Verifier {
  const known = createKnownSignatures(maxKnown);
  const verifyOwn = createInlineVerify(ownPerTurn);
  let isClosed = false;

  async function verifyUnknown(checks: readonly SignatureCheck[]): Promise<boolean[]> {
    const verdicts = verifyOwn(checks) ?? (await verifier.verify(checks));
    if (checks.length <= MAX_REMEMBERED) {
      for (const [index, check] of checks.entries()) if (verdicts[index]) known.add(check);
    }
    return verdicts;
  }

  return {
    async verify(checks) {
      if (isClosed) throw new CallError("CALL_CLOSED", "the verifier was closed");
      const isKnown = checks.map(known.has);
      const unknown = checks.filter((_, index) => !isKnown[index]);
      const given = (unknown.length > 0 ? await verifyUnknown(unknown) : []).values();
      return isKnown.map((isValid) => isValid || given.next().value === true);
    },
    close() {
      isClosed = true;
      return verifier.close();
    },
  };
}
