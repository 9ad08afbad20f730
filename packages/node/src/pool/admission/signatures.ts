/** The senders' own signatures of one request, checked off the main thread. */
import type { SignatureCheck } from "../../chain/pipeline/signatures.ts";
import { schemeOf } from "../../chain/pipeline/verify.ts";
import type { Examined } from "./admission.ts";

/** Whether each signature is valid, in order. */
export type Verify = (checks: readonly SignatureCheck[]) => Promise<boolean[]>;

/** The verdicts on the examined transactions, in their order. */
export async function verifySignatures(examined: readonly Examined[], verify: Verify): Promise<boolean[]> {
  const checks = examined.flatMap(({ job }) =>
    typeof job === "boolean" ? [] : [{ ...job, scheme: schemeOf(job) }],
  );
  const given = (checks.length > 0 ? await verify(checks) : []).values();
  return examined.map(({ job }) => (typeof job === "boolean" ? job : given.next().value!));
}
