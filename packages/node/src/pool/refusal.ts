/** Refusals of the pool (pool.md 4), and how many there were. The codes are public and do not change. */
import { CodedError } from "../platform/coded-error.ts";

export type RefusalCode =
  | "ERR_DUPLICATE"
  | "ERR_FROM_FUTURE"
  | "ERR_EXPIRED"
  | "ERR_WRONG_NETWORK"
  | "ERR_UNSUPPORTED"
  | "ERR_UNKNOWN"
  | "ERR_PENDING"
  | "ERR_CONFLICT"
  | "ERR_INVALID_RECIPIENT"
  | "ERR_HTLCLOCKNOTFOUND"
  | "ERR_TRANSACTION_SCHEMA"
  | "ERR_TOO_LARGE"
  | "ERR_BAD_DATA"
  | "ERR_LOW_FEE"
  | "ERR_APPLY"
  | "ERR_FORGED"
  | "ERR_ALREADY_IN_POOL"
  | "ERR_POOL_FULL";

/** One transaction is refused; the others of its request are not affected. */
export class Refusal extends CodedError<RefusalCode> {
  constructor(code: RefusalCode, message: string) {
    super(code, message, { isRetryable: code === "ERR_POOL_FULL" });
  }
}

/** The sender has the maximum of pending transactions: the transaction is listed as excess, without an error. */
export class SenderLimitError extends CodedError<"SENDER_LIMIT"> {
  constructor() {
    super("SENDER_LIMIT", "the sender has the maximum of pending transactions", { isRetryable: true });
  }
}

/** `excess`: beyond the maximum of pending transactions of a sender; `POOL_BUSY`: beyond the maximum of waiting ones. */
type PoolRefusal = RefusalCode | "excess" | "POOL_BUSY";

/** Transactions refused since the process started, by reason; reasons that did not occur are absent. */
export class RefusalCounts {
  readonly #counts: Partial<Record<PoolRefusal, number>> = {};

  count(reason: PoolRefusal, transactions = 1): void {
    if (transactions > 0) this.#counts[reason] = (this.#counts[reason] ?? 0) + transactions;
  }

  read(): Readonly<Partial<Record<PoolRefusal, number>>> {
    return { ...this.#counts };
  }
}
