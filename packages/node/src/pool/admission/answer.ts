/** The answer of an admission (pool.md 3). */
import type { SealedTransaction } from "@uniknode/protocol";
import type { AdmissionAnswer } from "../../gateway/gateway.ts";
import type { Refused } from "./admission.ts";

/** What became of the transactions of a request. */
export type Outcome = {
  readonly accept: readonly SealedTransaction[];
  readonly broadcast: readonly SealedTransaction[];
  readonly excess: string[];
  readonly refused: readonly Refused[];
};

export function answerOf({ accept, broadcast, excess, refused }: Outcome): AdmissionAnswer {
  const errors = Map.groupBy(refused, ({ id }) => id);
  const shown = ({ code, message }: Refused) => ({ type: code, message });
  const idOf = ({ data }: SealedTransaction) => data.id;
  return {
    data: {
      accept: accept.map(idOf),
      broadcast: broadcast.map(idOf),
      excess,
      invalid: [...errors.keys()],
    },
    ...(errors.size > 0 && {
      errors: Object.fromEntries(Array.from(errors, ([id, reasons]) => [id, reasons.map(shown)])),
    }),
  };
}
