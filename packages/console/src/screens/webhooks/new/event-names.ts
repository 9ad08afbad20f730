/** All webhook events with their meaning (docs/reference/events.md). */

export type EventGroup = {
  readonly title: string;
  /** Pattern of all events of the group, if they have a common prefix. */
  readonly pattern?: string;
  /** Hint about the most useful event. */
  readonly hint?: string;
  readonly events: readonly (readonly [name: string, happens: string])[];
};

export const EVENT_GROUPS: readonly EventGroup[] = [
  {
    title: "Transactions",
    pattern: "transaction.*",
    hint: "One message for each transaction: transaction.applied. The pattern sends four or five for each: pool, block, forger.",
    events: [
      ["transaction.applied", "a transaction was saved"],
      ["transaction.reverted", "the block of a transaction was reverted"],
      ["transaction.forged", "a delegate of this node forged a transaction"],
      ["transaction.pool.added", "transactions were accepted into the pool"],
      ["transaction.pool.rejected", "well-formed transactions were refused by the pool"],
      ["transaction.pool.removed", "a transaction left the pool"],
      ["transaction.expired", "a pending transaction was removed because it expired"],
    ],
  },
  {
    title: "Blocks",
    pattern: "block.*",
    events: [
      ["block.applied", "a block was saved"],
      ["block.finalized", "two thirds of the delegates have signed at or above a block"],
      ["block.reverted", "a block was reverted"],
      ["block.forged", "a delegate of this node forged a block"],
      ["block.received", "a block arrived from a peer"],
      ["block.disregarded", "a block arrived before the node was ready"],
    ],
  },
  {
    title: "Uniks",
    pattern: "unik.*",
    events: [
      ["unik.minted", "a unik was created"],
      ["unik.transferred", "a unik changed its owner"],
      ["unik.updated", "properties of a unik changed"],
      ["unik.disclosed", "names of a unik were disclosed"],
    ],
  },
  {
    title: "Wallets",
    pattern: "wallet.*",
    events: [
      ["wallet.saved", "a block changed a wallet"],
      ["wallet.created.cold", "a transaction created a wallet"],
      ["wallet.vote", "a vote was saved"],
      ["wallet.unvote", "a vote was withdrawn"],
    ],
  },
  {
    title: "Delegates",
    pattern: "delegate.*",
    events: [
      ["delegate.registered", "a delegate registration was saved"],
      ["delegate.resigned", "a delegate resignation was saved"],
    ],
  },
  {
    title: "Rounds",
    pattern: "round.*",
    events: [
      ["round.created", "the delegates of a new round were chosen"],
      ["round.applied", "a round ended"],
      ["round.missed", "a delegate forged no block in a round"],
    ],
  },
  {
    title: "Forging",
    pattern: "forger.*",
    events: [
      ["forger.missing", "a delegate missed its slot"],
      ["forger.failed", "the forger of this node could not forge"],
      ["forger.started", "the forger of this node started"],
    ],
  },
  {
    title: "This node",
    events: [
      ["peer.added", "a peer passed its verification"],
      ["peer.removed", "a peer was disconnected"],
      ["state.started", "the node is in sync for the first time since its start"],
    ],
  },
];
