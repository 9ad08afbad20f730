/** The events of the protocol: their names, their arguments, of which members are exact, and their results (p2p.md 5, 7 and 9). */
import { isIP } from "node:net";
import type { HeaderJson, PeerBlockJson } from "@uniknode/protocol";
import { formOf, refined } from "../../platform/json/form.ts";
import { type Static, type TSchema, Type } from "../../platform/json/schema.ts";
import { isRecord, type UntrustedRecord } from "./codec.ts";
import { MAX_BLOCKS, MAX_COMMON_IDS, MAX_PACKED_BLOCKS, MAX_TRANSACTIONS } from "./limits.ts";

/** Size limits of a transaction in a message, independent of its validity (p2p.md 7.6). */
const MAX_MEMBERS = 50;
const MAX_ASSET_MEMBERS = 100;
const MAX_PAYMENTS = 128;

/** Returns true if a value is a list of transactions that every peer accepts in one message. */
const areTransactionsSmall = (transactions: unknown): boolean =>
  Array.isArray(transactions) &&
  transactions.length <= MAX_TRANSACTIONS &&
  transactions.every(isTransactionSmall);

/** Returns true if a transaction is small enough to be sent to peers. */
export function isTransactionSmall(transaction: unknown): boolean {
  if (!isRecord(transaction)) return false;
  const { asset, ...members } = transaction;
  return (
    countBelow(members, MAX_MEMBERS) <= MAX_MEMBERS &&
    // The asset itself counts.
    (1 + countBelow(asset, MAX_ASSET_MEMBERS) <= MAX_ASSET_MEMBERS || arePayments(asset))
  );
}

/** Number of members and elements at all depths; stops counting soon after the maximum, and at a name that peers refuse. */
function countBelow(value: unknown, maximum: number): number {
  if (typeof value !== "object" || value === null || maximum < 0) return 0;
  // In a message, bytes are an object of two members.
  if (value instanceof Uint8Array) return 2;
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    count += name === "" ? maximum + 1 : 1 + countBelow(member, maximum - count - 1);
    if (count > maximum) break;
  }
  return count;
}

/** An asset of payments has its own limits. */
function arePayments(asset: unknown): boolean {
  if (!isRecord(asset) || !Array.isArray(asset.payments) || Object.keys(asset).length !== 1) return false;
  return asset.payments.length <= MAX_PAYMENTS && asset.payments.every(isPayment);
}

const isPayment = (payment: unknown): boolean =>
  isRecord(payment) &&
  Object.keys(payment).length === 2 &&
  typeof payment.amount === "string" &&
  typeof payment.recipientId === "string";

const exactly = <P extends Parameters<typeof Type.Object>[0]>(members: P) =>
  Type.Object(members, { additionalProperties: false });

const nothing = exactly({});
const blockId = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{16}|[0-9a-fA-F]{64})$" });
const ip = refined(Type.String(), (text) => isIP(text as string) !== 0);
const addressArgument = exactly({ ip });

/** Schema of every event's argument, in the order of the list of events (p2p.md 5). */
export const ARGUMENTS = {
  "p2p.peer.getPeers": nothing,
  "p2p.peer.getStatus": nothing,
  "p2p.peer.getCommonBlocks": exactly({
    ids: Type.Array(blockId, { minItems: 1, maxItems: MAX_COMMON_IDS }),
  }),
  "p2p.peer.getBlocks": exactly({
    /** The blocks after this height are requested. */
    lastBlockHeight: Type.Integer({ minimum: 1 }),
    /** `MAX_BLOCKS` if absent. */
    blockLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BLOCKS })),
    headersOnly: Type.Optional(Type.Boolean()),
    /** Has no effect. */
    serialized: Type.Optional(Type.Boolean()),
  }),
  "p2p.peer.postBlock": exactly({
    block: Type.Unsafe<Uint8Array>(refined(Type.Unknown(), (value) => value instanceof Uint8Array)),
  }),
  "p2p.peer.postTransactions": exactly({
    transactions: Type.Unsafe<Record<string, unknown>[]>(refined(Type.Unknown(), areTransactionsSmall)),
  }),
  "p2p.internal.acceptNewPeer": addressArgument,
  "p2p.internal.isPeerOrForger": addressArgument,
  "p2p.internal.emitEvent": exactly({
    event: Type.String(),
    body: Type.Unsafe<UntrustedRecord>(refined(Type.Unknown(), isRecord)),
  }),
  "p2p.internal.getUnconfirmedTransactions": nothing,
  "p2p.internal.getCurrentRound": nothing,
  "p2p.internal.getNetworkState": nothing,
  "p2p.internal.getRateLimitStatus": exactly({ ip, endpoint: Type.String() }),
  "p2p.internal.isBlockedByRateLimit": addressArgument,
  "p2p.internal.syncBlockchain": nothing,
  "p2p.internal.getRateLimitedEndpoints": nothing,
  /**
   * Event between Uniknode nodes, which announce it in their status: blocks after a height, as bytes
   * (decision 9).
   */
  "uniknode.peer.getBlocks": exactly({
    lastBlockHeight: Type.Integer({ minimum: 1 }),
    blockLimit: Type.Integer({ minimum: 1, maximum: MAX_PACKED_BLOCKS }),
  }),
  "uniknode.peer.getGenesis": nothing,
} satisfies Readonly<Record<string, TSchema>>;

/** Name of an event that a client may send. */
export type EventName = keyof typeof ARGUMENTS;

export type ArgumentOf<E extends EventName> = Static<(typeof ARGUMENTS)[E]>;

export const isEventName = (text: string): text is EventName => Object.hasOwn(ARGUMENTS, text);

/** Returns true for events that only trusted addresses may send. */
export const isInternal = (event: EventName): boolean => event.startsWith("p2p.internal.");

const forms = Object.fromEntries(
  Object.entries<TSchema>(ARGUMENTS).map(([event, schema]) => [event, formOf(schema)]),
) as Readonly<Record<EventName, ReturnType<typeof formOf>>>;

export const isArgumentOf = <E extends EventName>(event: E, value: unknown): value is ArgumentOf<E> =>
  forms[event].is(value);

/** Describes the first violation of an argument. */
export const argumentViolation = (event: EventName, value: unknown): string => forms[event].violation(value);

/** Reply to `getStatus`: how a node describes itself. */
export type Status = {
  state: {
    height: number;
    /** True in the first half of a slot. */
    forgingAllowed: boolean;
    currentSlot: number;
    /** Header of the block at `height`. */
    header: HeaderJson | Record<string, never>;
  };
  config: {
    version: string;
    network: {
      /** Version byte of addresses. */
      version?: number;
      name: string;
      nethash: string;
      explorer: string;
      token: { name: string; symbol: string };
    };
    /** Services by name; never empty. */
    plugins: Record<string, Plugin>;
    /** Announces the additive events to other Uniknode nodes; old nodes ignore it (p2p.md 7). */
    uniknode?: { protocol: number; processId: string };
  };
};

/** Version of the additive events. */
export const UNIKNODE_PROTOCOL = 1;

/** Another service of a node. */
export type Plugin = { enabled: boolean; port: number };

/** Reply to `getCommonBlocks`: the highest of the requested blocks that the node has. */
export type CommonBlock = {
  common: HeaderJson | Pick<HeaderJson, "height" | "id" | "previousBlock" | "timestamp">;
  lastBlockHeight: number;
};

/** A wallet as the forger sees it, amounts as decimal text. */
export type ForgerWallet = {
  address: string;
  balance: string;
  nonce: string;
  attributes: Record<string, unknown>;
  publicKey: string;
};

/** Reply to `getCurrentRound`, for the height after the head. */
export type CurrentRound = {
  current: number;
  reward: number;
  /** Start of the current slot, seconds since the network epoch. */
  timestamp: number;
  /** Delegates in forging order. */
  delegates: ForgerWallet[];
  currentForger?: ForgerWallet;
  nextForger?: ForgerWallet;
  lastBlock: HeaderJson;
  canForge: boolean;
};

/** Reply to `getNetworkState`. */
export type NetworkState = {
  /** 0 normal, 1 below the minimum of peers, 2 test, 3 cold start, 4 unknown. */
  status: 0 | 1 | 2 | 3 | 4;
  nodeHeight: number;
  lastBlockId: string;
  quorumDetails: {
    peersQuorum: number;
    peersNoQuorum: number;
    peersOverHeight: number;
    peersOverHeightBlockHeaders: Record<string, HeaderJson>;
    peersForked: number;
    peersDifferentSlot: number;
    peersForgingNotAllowed: number;
  };
};

type Nothing = Record<string, never>;

/** Result of each event. */
type Results = {
  /** Ordered by increasing latency. */
  "p2p.peer.getPeers": { ip: string }[];
  "p2p.peer.getStatus": Status;
  "p2p.peer.getCommonBlocks": CommonBlock;
  /** Blocks of consecutive heights. */
  "p2p.peer.getBlocks": PeerBlockJson[];
  "p2p.peer.postBlock": Nothing;
  "p2p.peer.postTransactions": never[];
  "p2p.internal.acceptNewPeer": Nothing;
  "p2p.internal.isPeerOrForger": { isPeerOrForger: boolean };
  "p2p.internal.emitEvent": Nothing;
  /** Transactions as hexadecimal bytes in forging order. */
  "p2p.internal.getUnconfirmedTransactions": { transactions: string[]; poolSize: number };
  "p2p.internal.getCurrentRound": CurrentRound;
  "p2p.internal.getNetworkState": NetworkState;
  "p2p.internal.getRateLimitStatus": { blocked: boolean; exceededLimitOnEndpoint: boolean };
  "p2p.internal.isBlockedByRateLimit": { blocked: boolean };
  "p2p.internal.syncBlockchain": Nothing;
  "p2p.internal.getRateLimitedEndpoints": EventName[];
  /** Serialized blocks of consecutive heights, before each its length as u32 little endian; none above the head. */
  "uniknode.peer.getBlocks": { blocks: Uint8Array };
  /** Content of the genesis file. */
  "uniknode.peer.getGenesis": { genesisBlock: Record<string, unknown> };
};

export type ResultOf<E extends EventName> = Results[E];
