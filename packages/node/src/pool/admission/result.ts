/** Result of an admission (pool.md 3). */
import type { SealedTransaction } from "@uniknode/protocol";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import { Refusal, type RefusalCode, SenderLimitError } from "../refusal.ts";
import type { Candidate } from "./candidate.ts";

export type Refused = { readonly id: string; readonly code: RefusalCode; readonly message: string };

/** Result of the checks of one request. */
export type CheckResult = {
  readonly accept: SealedTransaction[];
  readonly broadcast: SealedTransaction[];
  /** Ids as received. */
  readonly excess: string[];
  readonly refused: Refused[];
};

/** Outcome of the admission of one request. */
export type AdmissionOutcome = {
  readonly accept: readonly SealedTransaction[];
  readonly broadcast: readonly SealedTransaction[];
  readonly excess: string[];
  readonly refused: readonly Refused[];
};

export function toAdmissionResult({ accept, broadcast, excess, refused }: AdmissionOutcome): AdmissionResult {
  const errors = Map.groupBy(refused, ({ id }) => id);
  const toError = ({ code, message }: Refused) => ({ type: code, message });
  const idOf = ({ data }: SealedTransaction) => data.id;
  return {
    data: {
      accept: accept.map(idOf),
      broadcast: broadcast.map(idOf),
      excess,
      invalid: [...errors.keys()],
    },
    ...(errors.size > 0 && {
      errors: Object.fromEntries(Array.from(errors, ([id, reasons]) => [id, reasons.map(toError)])),
    }),
  };
}

/** Runs the checks of a candidate, and records a refusal in the result. Returns its code. */
export function runChecks({ id }: Candidate, result: CheckResult, test: () => void): RefusalCode | undefined {
  try {
    test();
    return undefined;
  } catch (error) {
    if (error instanceof SenderLimitError) result.excess.push(id);
    else if (error instanceof Refusal) result.refused.push({ id, code: error.code, message: error.message });
    else throw error;
    return error instanceof Refusal ? error.code : undefined;
  }
}
