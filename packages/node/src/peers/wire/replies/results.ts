/** Results of the events: `data.data` of a successful reply (p2p.md 7 and 9). */
import type { HeaderJson, PeerBlockJson } from "@uniknode/protocol";
import type { EventName } from "../requests/arguments.ts";

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
