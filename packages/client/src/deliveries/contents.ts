/** The content of events, in `data` (docs/reference/events.md). Amounts are decimal text in the smallest unit. */
import type { RawBlock } from "../api/resources/blocks.ts";
import type { RawTransaction } from "../api/resources/transactions.ts";
import type { Wallet } from "../api/resources/wallets.ts";

export type BlockContent = Omit<RawBlock, "unikMintRewards" | "foundationRewards"> & {
  /** The ids as hexadecimal digits, if the network's ids are decimal. */
  readonly idHex: string;
  readonly previousBlockHex: string;
};

/** A block as it arrived. */
export type ReceivedBlockContent = BlockContent & { readonly transactions: readonly RawTransaction[] };

export type ConfirmedTransactionContent = RawTransaction & {
  readonly blockId: string;
  /** Index in the block. */
  readonly sequence: number;
};

export type RoundDelegateContent = Wallet & {
  /** Sum of the balances that vote for it. */
  readonly votes: string;
  readonly round: number;
};

export type VoteContent = {
  /** `+` or `-`, then the public key of the delegate. */
  readonly delegate: string;
  readonly transaction: ConfirmedTransactionContent;
};

export type UnikContent = {
  readonly tokenId: string;
  /** Address of its owner after the transaction. */
  readonly ownerId: string;
  readonly transaction: ConfirmedTransactionContent;
};

export type PeerContent = {
  readonly ip: string;
  readonly port: number;
  /** Ports by plugin; -1 is closed. */
  readonly ports: Readonly<Record<string, number>>;
  readonly version?: string;
  /** Milliseconds. */
  readonly latency?: number;
  readonly plugins: Readonly<Record<string, unknown>>;
  readonly state: {
    readonly height: number;
    readonly forgingAllowed: boolean;
    readonly currentSlot: number;
    readonly header?: BlockContent;
  };
  /** Time of its last verification, ISO 8601, UTC. */
  readonly lastPinged: string;
  /** Result of comparing its chain with the chain of the node. */
  readonly verificationResult: {
    readonly myHeight: number;
    readonly hisHeight: number;
    readonly highestCommonHeight: number;
  };
};

export type RejectionContent = {
  readonly transaction: RawTransaction;
  /** Code of the reason. */
  readonly type: string;
  readonly message: string;
};

/** Contents by event name; events without content are omitted. */
export type EventContents = {
  "block.applied": BlockContent;
  "block.disregarded": ReceivedBlockContent;
  "block.finalized": BlockContent;
  "block.forged": BlockContent;
  "block.received": ReceivedBlockContent;
  "block.reverted": BlockContent;
  "delegate.registered": ConfirmedTransactionContent;
  "delegate.resigned": ConfirmedTransactionContent;
  "forger.failed": { readonly error: string };
  "forger.missing": { readonly delegate: Wallet };
  "forger.started": { readonly activeDelegates: readonly string[] };
  "peer.added": PeerContent;
  "peer.removed": PeerContent;
  "round.created": readonly RoundDelegateContent[];
  "round.missed": { readonly delegate: Wallet };
  "state.started": true;
  "transaction.applied": ConfirmedTransactionContent;
  "transaction.expired": RawTransaction;
  "transaction.forged": RawTransaction;
  "transaction.pool.added": readonly RawTransaction[];
  "transaction.pool.rejected": readonly RejectionContent[];
  "transaction.pool.removed": RawTransaction;
  "transaction.reverted": ConfirmedTransactionContent;
  "unik.disclosed": UnikContent;
  "unik.minted": UnikContent;
  "unik.transferred": UnikContent;
  "unik.updated": UnikContent;
  "wallet.created.cold": Wallet;
  "wallet.saved": Wallet;
  "wallet.unvote": VoteContent;
  "wallet.vote": VoteContent;
};

/** A message about an event: a delivery, or an event of the live stream. */
export type EventMessage = {
  readonly event: string;
  readonly data?: unknown;
  /** The content was too large to be sent. */
  readonly truncated?: true;
};

/**
 * Returns true if a message is about the event of this name and has its whole content: then `data` has the
 * type of that content. False for a truncated message.
 */
export const isEvent = <Message extends EventMessage, Name extends keyof EventContents>(
  message: Message,
  name: Name,
): message is Message & { readonly event: Name; readonly data: EventContents[Name] } =>
  message.event === name && !message.truncated;
