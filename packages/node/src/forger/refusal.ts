/** Why this node does not sign in a slot of its own, although it could. */

/**
 * `signed_before`: the signing record has the slot or a later one; `watching`: the start, while other forgers with the
 * same keys would show; `other_forger`: there is one.
 */
export type RefusalKind = "signed_before" | "watching" | "other_forger";

export type Refusal = {
  readonly kind: RefusalKind;
  /** For the log and `uniknode forger why`. */
  readonly reason: string;
};

/** A slot is not signed. */
export class SlotRefusedError extends Error {
  readonly code = "SLOT_REFUSED";
  readonly isRetryable = false;
  readonly slot: number;
  readonly publicKey: string;
  readonly kind: RefusalKind;
  readonly reason: string;

  constructor(slot: number, publicKey: string, { kind, reason }: Refusal) {
    super(`slot ${slot} is not signed: ${reason}`);
    this.name = "SlotRefusedError";
    this.slot = slot;
    this.publicKey = publicKey;
    this.kind = kind;
    this.reason = reason;
  }
}
