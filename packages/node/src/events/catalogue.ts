/** Events: their form, also in the event log, and the names that a webhook can subscribe to (webhooks.md 5). */

/** `data` is JSON-ready: amounts as decimal text; absent for events without content. */
export type Event = {
  /**
   * Stable id, the same on every node: `block.applied:<block id>`, `transaction.applied:<block id>:<sequence>`,
   * `forger.missing:<block id>:<slot>` ... An event that repeats (a block applied again after a reorganisation) has the same id.
   */
  readonly id: string;
  readonly name: string;
  /** Height of the block that caused the event. */
  readonly height?: number;
  readonly blockId?: string;
  /** Time of the block whose application or revert caused the event, milliseconds since 1970. */
  readonly timeMs?: number;
  /** Id of the event that this one retracts, because its block was reverted. */
  readonly reverts?: string;
  readonly data?: unknown;
};

/** An event in the log. */
export type LoggedEvent = Event & {
  /** Grows by one with each event; never reused. */
  readonly sequence: number;
  /** Time at which it was logged, milliseconds since 1970. */
  readonly createdMs: number;
};

/** Names of the events that a webhook can subscribe to, each with the moment at which it is published (webhooks.md 5). */
export const EVENTS: Readonly<Record<string, string>> = {
  "block.applied": "a block was saved",
  "block.disregarded": "a block arrived before the node was ready",
  "block.finalized": "two thirds of the delegates have signed at or above a block",
  "block.forged": "a delegate of this node forged a block",
  "block.received": "a block from a peer was queued",
  "block.reverted": "a block was reverted",
  "delegate.registered": "a delegate registration was saved",
  "delegate.resigned": "a delegate resignation was saved",
  "forger.failed": "the forger of this node could not forge",
  "forger.missing": "a delegate missed its slot",
  "forger.started": "the forger of this node started",
  "peer.added": "a peer passed its verification",
  "peer.removed": "a peer was disconnected",
  "round.created": "the delegates of a new round were chosen",
  "state:started": "alias of state.started",
  "transaction.applied": "a transaction was saved",
  "transaction.expired": "a pending transaction was removed because it expired",
  "transaction.forged": "a delegate of this node forged a transaction",
  "transaction.pool.added": "transactions were accepted into the pool",
  "transaction.pool.rejected": "well-formed transactions were refused by the pool",
  "transaction.pool.removed": "a transaction left the pool",
  "transaction.reverted": "the block of a transaction was reverted",
  "wallet.saved": "a block changed a wallet",
  "wallet.created.cold": "a transaction created a wallet",
  // Beyond the interface document: names that receivers of the old network use.
  "round.applied": "a round ended",
  "round.missed": "a delegate forged no block in a round",
  "wallet.vote": "a vote was saved",
  "wallet.unvote": "a vote was withdrawn",
  "state.started": "the node is in sync for the first time since its start",
  // New with this node.
  "unik.minted": "a unik was created",
  "unik.transferred": "a unik changed its owner",
  "unik.updated": "properties of a unik changed",
  "unik.disclosed": "names of a unik were disclosed",
};

/** Returns true if a webhook may be registered for this name; the internal events of the old node are refused. */
export const isEventName = (name: string): boolean => Object.hasOwn(EVENTS, name);

/** Events about blocks that stay true if the block is reverted. */
const NODE_EVENTS: ReadonlySet<string> = new Set([
  "block.disregarded",
  "block.forged",
  "block.received",
  "transaction.forged",
]);
/** Families of the events that a block causes when it is applied or reverted. */
const CHAIN_FAMILIES: ReadonlySet<string> = new Set(["block", "delegate", "round", "unik", "wallet"]);
const OTHER_CHAIN_EVENTS: ReadonlySet<string> = new Set([
  "forger.missing",
  "forger.missing.reverted",
  "transaction.applied",
  "transaction.reverted",
]);

/** Returns true if an event reports a fact of a block, which is true until the block is reverted. */
export const isChainFact = (name: string): boolean =>
  OTHER_CHAIN_EVENTS.has(name) ||
  (CHAIN_FAMILIES.has(name.slice(0, name.indexOf("."))) && !NODE_EVENTS.has(name));

/** Returns true if an event retracts an earlier one. */
export const isRetraction = (name: string): boolean => name.endsWith(".reverted");

/** The name of the event that retracts one of these. */
export const retractionNameOf = (name: string): string =>
  name === "block.applied" || name === "transaction.applied"
    ? name.replace("applied", "reverted")
    : `${name}.reverted`;

/** The name of the event that an event in the log retracts, if it retracts one: a wallet after a revert retracts the wallet before. */
export const retractedNameOf = (name: string): string => name.replace("reverted", "applied");

/** Event-log name of a webhook event. */
export const loggedName = (name: string): string => (name === "state:started" ? "state.started" : name);

/** The names that a pattern matches: `transaction.*` all that begin with `transaction.`, `*` every one. */
function namesOf(pattern: string): string[] {
  if (!/^([a-z]+\.)*\*$/.test(pattern)) return [];
  const prefix = pattern.slice(0, -1);
  // Patterns match the names in the event log, not their aliases.
  return Object.keys(EVENTS).filter((name) => name.startsWith(prefix) && loggedName(name) === name);
}

/** Returns true if a text is a pattern that matches at least one event. */
export const isEventPattern = (text: string): boolean => namesOf(text).length > 0;

/**
 * Returns the events of a subscription, by their name in the event log, each with the name that the subscriber receives.
 *
 * @param given names and patterns; the first one that matches an event gives the name that the subscriber receives
 */
export function subscribedNames(given: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const name of given.flatMap((text) => (Object.hasOwn(EVENTS, text) ? [text] : namesOf(text)))) {
    const logged = loggedName(name);
    if (!names.has(logged)) names.set(logged, name);
  }
  return names;
}
