/** Reasons why this node does not sign one of its own slots although it could. */

import type { SigningRefusalKind } from "../../gateway/figures.ts";
import { CodedError } from "../../platform/coded-error.ts";

export type Refusal = {
  readonly kind: SigningRefusalKind;
  /** Text for the log and `uniknode forger why`. */
  readonly reason: string;
};

/** A slot is not signed. */
export class SlotRefusedError extends CodedError<"SLOT_REFUSED"> {
  readonly slot: number;
  readonly publicKey: string;
  readonly kind: SigningRefusalKind;
  readonly reason: string;

  constructor(slot: number, publicKey: string, { kind, reason }: Refusal) {
    super("SLOT_REFUSED", `slot ${slot} not signed: ${reason}`, { isRetryable: false });
    this.slot = slot;
    this.publicKey = publicKey;
    this.kind = kind;
    this.reason = reason;
  }
}
