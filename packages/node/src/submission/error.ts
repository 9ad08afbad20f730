/** Why a transaction did not get to where it was to go. */
import type { ApiError } from "@uniknode/client";

export type SendErrorType =
  /** The node refused it; nothing has happened. `reasons` as the node says them. */
  | {
      readonly code: "SEND_REFUSED";
      readonly id: string;
      readonly reasons: readonly { readonly type: string; readonly message: string }[];
    }
  /** The sender has too many transactions in the pool; worth a retry once some are forged. */
  | { readonly code: "SEND_EXCESS"; readonly id: string }
  /** No answer came: the node may have taken it or not. Sending the same one again does no harm, another one would. */
  | { readonly code: "SEND_UNCERTAIN"; readonly id: string; readonly cause: ApiError }
  /** It left the pool without being forged: it expired, or another one took its place. */
  | { readonly code: "SEND_DROPPED"; readonly id: string }
  /** It still waits in the pool, and may be forged later. */
  | { readonly code: "SEND_STILL_WAITING"; readonly id: string; readonly waitedMs: number }
  /** The second passphrase is not the one that the wallet registered. */
  | { readonly code: "SEND_WRONG_SECOND_KEY"; readonly address: string }
  /** The wallet has not what the transaction needs: a vote to withdraw, a unik, a public key. */
  | { readonly code: "SEND_NOTHING_THERE"; readonly address: string };

export type SendErrorCode = SendErrorType["code"];

export class SendError extends Error {
  readonly code: SendErrorCode;
  readonly type: SendErrorType;
  readonly isRetryable: boolean;

  constructor(type: SendErrorType, message: string) {
    super(message);
    this.name = "SendError";
    this.code = type.code;
    this.type = type;
    this.isRetryable = type.code === "SEND_EXCESS" || type.code === "SEND_UNCERTAIN";
  }
}
