/** Reasons why a transaction was not sent or not forged. */
import type { ApiError } from "@uniknode/client";
import { CodedError } from "../platform/coded-error.ts";

export type SendErrorType =
  /** The node refused the transaction, and nothing was sent; `reasons` come from the node. */
  | {
      readonly code: "SEND_REFUSED";
      readonly id: string;
      readonly reasons: readonly { readonly type: string; readonly message: string }[];
    }
  /** The sender has too many pending transactions; retry when some are forged. */
  | { readonly code: "SEND_EXCESS"; readonly id: string }
  /**
   * No response, or the node processed it since its last block and does not repeat the outcome. The same transaction can
   * be sent again; a new one could pay twice.
   */
  | { readonly code: "SEND_UNCERTAIN"; readonly id: string; readonly cause?: ApiError }
  /** The transaction left the pool without being forged: it expired or was replaced. */
  | { readonly code: "SEND_DROPPED"; readonly id: string }
  /** The transaction is still pending, and may be forged later. */
  | { readonly code: "SEND_STILL_WAITING"; readonly id: string; readonly waitedMs: number }
  /** The second passphrase does not match the second public key of the wallet. */
  | { readonly code: "SEND_WRONG_SECOND_KEY"; readonly address: string }
  /** The wallet lacks a requirement of the transaction: a vote to withdraw, a unik, a public key. */
  | { readonly code: "SEND_NOTHING_THERE"; readonly address: string };

export type Refusal = Extract<SendErrorType, { code: "SEND_REFUSED" }>;

export type SendErrorCode = SendErrorType["code"];

export class SendError extends CodedError<SendErrorCode> {
  readonly type: SendErrorType;

  constructor(type: SendErrorType, message: string) {
    super(type.code, message, { isRetryable: type.code === "SEND_EXCESS" || type.code === "SEND_UNCERTAIN" });
    this.type = type;
  }
}
