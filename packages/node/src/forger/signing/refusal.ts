/** Reasons why this node does not sign in a slot of its own, although it could. */
import type { SigningRefusalKind } from "../../gateway/figures.ts";

export type Refusal = {
  readonly kind: SigningRefusalKind;
  /** Text for the log and `uniknode forger why`. */
  readonly reason: string;
};

/** A slot is not signed. */
export class SlotRefusedError extends Error {
  readonly code = "SLOT_REFUSED";
  readonly isRetryable = false;
  readonly slot: number;
  readonly publicKey: string;
  readonly kind: SigningRefusalKind;
  readonly reason: string;

  constructor(slot: number, publicKey: string, { kind, reason }: Refusal) {
    super(`slot ${slot} not signed: ${reason}`);
    this.name = "SlotRefusedError";
    this.slot = slot;
    this.publicKey = publicKey;
    this.kind = kind;
    this.reason = reason;
  }
}
