/** `/operations`: views of a node for its operator (operations.md 10). */
import type { ApiResponse, Timestamp } from "../responses.ts";
import type { Send } from "../send.ts";
import type { SyncProgress } from "./node.ts";

type Counts = Readonly<Record<string, number>>;

/** `null`: the consensus thread of the node does not reply. */
export type NodeOverview = {
  readonly version: string;
  /** Version of the old network's software that it is compatible with. */
  readonly protocol: string;
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
  readonly chain: {
    readonly height: number;
    readonly headAgeSeconds: number;
    readonly blocksBehind: number;
    readonly synced: boolean;
    readonly progress?: SyncProgress;
  } | null;
  readonly pool: {
    readonly transactions: number;
    readonly bytes: number;
    /** Transactions being admitted. */
    readonly admitting: number;
    /** Refusals by reason, since the process started. */
    readonly refused: Counts;
  } | null;
  readonly peers: {
    readonly known: number;
    readonly receivedBytes: number;
    readonly sentBytes: number;
    /** Inbound connections of the peer port. Absent for a node without peers. */
    readonly inbound?: {
      readonly sessions: number;
      readonly handshakes: number;
      readonly banned: number;
      readonly refused: Counts;
      readonly cut: Counts;
      readonly evicted: number;
      readonly postsDropped: Counts;
    };
  } | null;
  /** Mirrors, API servers and delivery workers that have used this node within the last hour. */
  readonly processes: readonly {
    readonly kind: "mirror" | "server" | "worker";
    readonly address: string;
    /** Host and port of an API server, or name of a worker. */
    readonly name?: string;
    readonly height?: number;
    readonly blocksBehind?: number;
    readonly lastSeenSeconds: number;
  }[];
  readonly forger: {
    readonly delegates: readonly {
      readonly publicKey: string;
      readonly lastForged?: {
        readonly slot: number;
        readonly timestamp: Timestamp;
        readonly blockId: string;
      };
    }[];
    readonly slots: {
      readonly forged: number;
      readonly missed: number;
      /** Missed slots that were not signed, by the reason. */
      readonly refused: Counts;
      readonly keysUsedElsewhere: number;
    } | null;
    /** Newest first. */
    readonly lastMissed: readonly {
      readonly publicKey: string;
      readonly slot: number;
      readonly timestamp: Timestamp;
      readonly reason: string;
    }[];
  };
  readonly disk: { readonly freeBytes?: number; readonly failedWrites: number; readonly problem?: string };
  readonly memory: { readonly residentBytes: number; readonly heapBytes?: number };
};

/** A sample every `intervalSeconds`, since the process started and for six hours at most. */
export type NodeSeries = {
  readonly intervalSeconds: number;
  /** Time of each sample, seconds since 1970, ascending. */
  readonly times: readonly number[];
  /** A value for each time; null if it is unknown. The OpenAPI document lists the names. */
  readonly figures: Readonly<Record<string, readonly (number | null)[]>>;
};

export type NodeOption = {
  /** Name in the configuration file. */
  readonly option: string;
  /** `***` for a secret; absent without value and default. */
  readonly value?: string | number | boolean | readonly string[];
  readonly origin: "default" | "file" | "environment" | "argument";
  /** The flag, variable or file that sets the value. */
  readonly source?: string;
};

export const operations = (send: Send) => ({
  /** Gets the state of the node by part. */
  node: () => send<ApiResponse<NodeOverview>>({ path: "/operations/node" }),

  /** Figures of the last hours; with `since`, seconds since 1970, only later samples. */
  series: (query: { readonly since?: number } = {}) =>
    send<ApiResponse<NodeSeries>>({ path: "/operations/series", query }),

  /** Options of the start, with their values and origins. */
  options: () => send<ApiResponse<readonly NodeOption[]>>({ path: "/operations/options" }),
});
