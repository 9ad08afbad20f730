/** Events that can be derived from stored blocks (docs/reference/events.md, last column of the table). */
export const STORED_EVENTS = [
  "block.applied",
  "block.finalized",
  "delegate.registered",
  "delegate.resigned",
  "forger.missing",
  "round.created",
  "transaction.applied",
  "round.applied",
  "round.missed",
  "wallet.vote",
  "wallet.unvote",
  "unik.minted",
  "unik.transferred",
  "unik.updated",
  "unik.disclosed",
] as const;
