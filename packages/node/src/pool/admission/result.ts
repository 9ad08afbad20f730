/** Result of an admission (pool.md 3). */
import type { SealedTransaction } from "@uniknode/protocol";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import type { Refused } from "./admission.ts";

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
