/** Checks the signatures of one request in other threads. */
import type { StateReader } from "@uniknode/ledger";
import { CallError } from "../../platform/threads/call.ts";
import { type SignatureCheck, schemeOf } from "../../verification/packed-checks.ts";
import type { RecordedSignatures } from "../../verification/wallet-signatures.ts";
import type { ParsedCandidate } from "./parse.ts";

/** Settles with the verdict of each signature, in order. */
export type Verify = (checks: readonly SignatureCheck[]) => Promise<boolean[]>;

export type SignatureDeps = {
  readonly verify: Verify;
  readonly signatures: RecordedSignatures;
  readonly state: StateReader;
};

/** Less than a caller waits for its response. */
const TIMEOUT_MS = 5_000;

/**
 * Returns whether the sender's own signature of each transaction is valid, in their order. The verdicts that depend on
 * wallets are recorded.
 *
 * @throws {CallError} when the verifier gives no verdicts in time
 */
export async function verifySignatures(
  parsed: readonly ParsedCandidate[],
  deps: SignatureDeps,
): Promise<boolean[]> {
  const transactions = parsed.map(({ transaction }) => transaction);
  const [verdicts] = await withTimeout(
    Promise.all([verifyOwn(parsed, deps.verify), deps.signatures.verifyAhead(transactions, deps.state)]),
  );
  return verdicts;
}

async function verifyOwn(parsed: readonly ParsedCandidate[], verify: Verify): Promise<boolean[]> {
  const checks = parsed.flatMap(({ job }) =>
    typeof job === "boolean" ? [] : [{ ...job, scheme: schemeOf(job) }],
  );
  const given = (checks.length > 0 ? await verify(checks) : []).values();
  return parsed.map(({ job }) => (typeof job === "boolean" ? job : given.next().value === true));
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new CallError("CALL_TIMEOUT", `signature verification timed out after ${TIMEOUT_MS} ms`)),
    TIMEOUT_MS,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
