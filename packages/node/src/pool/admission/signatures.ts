/** Checks the senders' own signatures of one request in other threads. */
import { type SignatureCheck, schemeOf } from "../../chain/pipeline/packed-checks.ts";
import type { ParsedCandidate } from "./admission.ts";

/** Whether each signature is valid, in order. */
export type Verify = (checks: readonly SignatureCheck[]) => Promise<boolean[]>;

/** Whether each transaction has a valid signature, in their order. */
export async function verifySignatures(
  parsed: readonly ParsedCandidate[],
  verify: Verify,
): Promise<boolean[]> {
  const checks = parsed.flatMap(({ job }) =>
    typeof job === "boolean" ? [] : [{ ...job, scheme: schemeOf(job) }],
  );
  const given = (checks.length > 0 ? await verify(checks) : []).values();
  return parsed.map(({ job }) => (typeof job === "boolean" ? job : given.next().value!));
}
