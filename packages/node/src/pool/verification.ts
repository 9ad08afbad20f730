/** The senders' own signatures of one request, checked off the main thread. */
import type { SignatureCheck } from "../chain/signatures.ts";
import type { Examined } from "./admission.ts";

/** Whether each signature is valid, in order. */
export type Verify = (checks: readonly SignatureCheck[]) => Promise<boolean[]>;

const SCHNORR_BYTES = 64;

/** The verdicts on the examined transactions, in their order. */
export async function verifySignatures(examined: readonly Examined[], verify: Verify): Promise<boolean[]> {
  const checks = examined.flatMap(({ job }) => (typeof job === "boolean" ? [] : [checkOf(job)]));
  const given = (checks.length > 0 ? await verify(checks) : []).values();
  return examined.map(({ job }) => (typeof job === "boolean" ? job : given.next().value!));
}

/** 64 bytes are Schnorr, everything else is ECDSA (transactions.md section 10). */
const checkOf = (job: Exclude<Examined["job"], boolean>): SignatureCheck => ({
  ...job,
  scheme: job.signature.length === SCHNORR_BYTES ? "schnorr" : "ecdsa",
});
