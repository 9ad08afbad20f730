/** The gateway from the node to its serving side, in the consensus thread. */
import type { Network, SchemaViolation, Slots } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import type { Options } from "../../config/options.ts";
import type { SubscribedEvents } from "../../event-log/subscribed-events.ts";
import { finalHeight } from "../../facts/final.ts";
import type { Forging, ForgingFigures } from "../../forger/forging.ts";
import { futureHeadText } from "../../forger/future-head.ts";
import type { MirrorFigures, NodeFigures, NodeReport } from "../../gateway/figures.ts";
import {
  type AdmissionResult,
  BodyError,
  type DevCommand,
  DevError,
  type DevResult,
  type Gateway,
  type NodeStatus,
  type PeerInfo,
  type PendingTransaction,
  type PoolPage,
  type PoolRange,
} from "../../gateway/gateway.ts";
import type { Peers } from "../../peers/peers.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { type LoopDelay, LoopDelayMonitor } from "../../platform/lifecycle/event-loop.ts";
import { BatchError } from "../../pool/admission/parse.ts";
import { PendingPages } from "../../pool/pending-pages.ts";
import type { Pool } from "../../pool/pool.ts";
import type { NodeCore } from "./core.ts";
import type { Mirror } from "./mirror.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";

type GatewayOptions = Pick<Options, "poolMaxPerRequest">;

export type GatewayDeps = {
  readonly pool: Pick<Pool, "submit" | "size" | "figures" | "get" | "inForgingOrder">;
  readonly network: Network;
  readonly slots: Slots;
  /** Returns the last accepted block; its timestamp is in seconds since the network epoch. */
  readonly head: () => { readonly height: number; readonly timestamp: number };
  readonly blocks: Pick<Chain["blocks"], "header">;
  /** See `Chain`. */
  readonly assumption: Chain["assumption"];
  readonly revertedBlocks: Chain["revertedBlocks"];
  /** Returns the network time in seconds. */
  readonly now: () => number;
  /** Absent for a node without peers. */
  readonly peers?: Pick<
    Peers,
    "networkHeight" | "list" | "progress" | "traffic" | "bounds" | "broadcastTransactions"
  >;
  /** Returns the figures of this node's slots since the process started. */
  readonly forging: () => ForgingFigures;
  /** Returns the figures of the tree of final facts. */
  readonly facts: () => NodeReport["facts"];
  /** Absent for a node that starts no mirror. */
  readonly mirror?: () => MirrorFigures;
  /** Returns the loop delay of the consensus thread. */
  readonly loopDelay: () => LoopDelay;
  /** Returns the number of log lines that the consensus thread lost. */
  readonly logLinesLost: () => number;
  readonly subscribedEvents: Pick<SubscribedEvents, "webhooksChanged" | "streamsChanged" | "replaceRemote">;
  /** The dev commands; absent unless the chain is a dev chain. */
  readonly dev?: Gateway["dev"];
};

/** Age of the head, in slots, from which on the node is not in sync (consensus.md 11). */
const SYNCED_SLOTS = 3;
/** Maximum number of peers in a result; the peer table has separate bounds. */
const MAX_PEERS = 2_000;

export class NodeGateway implements Gateway {
  readonly #options: GatewayOptions;
  readonly #deps: GatewayDeps;
  readonly #pendingPages: PendingPages;

  constructor(options: GatewayOptions, deps: GatewayDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#pendingPages = new PendingPages(deps.pool);
  }

  /** Submits the items of the body of `POST /transactions`. If the body as a whole fails the schema, nothing is processed. */
  async submit(transactions: unknown[]): Promise<AdmissionResult> {
    const { pool, peers } = this.#deps;
    const { length } = transactions;
    const max = this.#options.poolMaxPerRequest;
    if (length < 1 || length > max)
      throw new BodyError(`"transactions" must have from 1 to ${max} items, not ${length}`);
    const result = await pool.submit(transactions, { isBatch: true }).catch(throwBodyError);
    peers?.broadcastTransactions(transactions as Record<string, unknown>[], result);
    return result;
  }

  async pendingTransactions(range: PoolRange): Promise<PoolPage> {
    return this.#pendingPages.read(range);
  }

  async pendingTransaction(id: string): Promise<PendingTransaction | undefined> {
    return this.#pendingPages.find(id);
  }

  async status(): Promise<NodeStatus> {
    return statusOf(this.#deps);
  }

  async peers(): Promise<PeerInfo[]> {
    return this.#deps.peers?.list().slice(0, MAX_PEERS) ?? [];
  }

  async figures(): Promise<NodeFigures> {
    return { ...reportOf(this.#deps), loopDelay: this.#deps.loopDelay() };
  }

  async report(): Promise<NodeReport> {
    return reportOf(this.#deps);
  }

  async webhooksChanged(): Promise<void> {
    this.#deps.subscribedEvents.webhooksChanged();
  }

  async streamsChanged(names: string[]): Promise<Record<string, number>> {
    return this.#deps.subscribedEvents.streamsChanged(names);
  }

  async replaceRemoteNames(names: readonly string[]): Promise<{ lastSequence: number }> {
    return { lastSequence: this.#deps.subscribedEvents.replaceRemote(names) };
  }

  async dev(command: DevCommand): Promise<DevResult> {
    const { dev = refuseDevCommands } = this.#deps;
    return dev(command);
  }
}

function throwBodyError(error: unknown): never {
  throw error instanceof BatchError ? new BodyError(violationText(error.violation)) : error;
}

function violationText({ path, expectation }: SchemaViolation): string {
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return `"transactions${names.join(".")}" ${expectation}`;
}

function statusOf({ peers, head, now, network, slots, assumption, blocks, dev }: GatewayDeps): NodeStatus {
  const { height, timestamp } = head();
  const futureHead = futureHeadText({ height, timestamp }, slots.unixMsOf(now()), slots);
  const final = blocks.header(finalHeight(height, network));
  const known = peers?.networkHeight();
  const progress = peers?.progress();
  const isOld = now() - timestamp >= SYNCED_SLOTS * network.milestoneAt(1).blocktime;
  return {
    synced: known === undefined || !isOld,
    now: height,
    blocksCount: (known ?? height) - height,
    timestamp: now(),
    ...(final && { finalBlock: { height: final.height, id: final.id } }),
    ...(progress && { progress }),
    ...(futureHead !== undefined && { futureHead }),
    // A dev chain may wait for transactions, or for its user.
    ...(peers && !dev && known === undefined && isOld && { isIsolated: true }),
    ...assumedBlock(assumption(), height),
  };
}

function assumedBlock(
  { pin, uncheckedFrom }: ReturnType<GatewayDeps["assumption"]>,
  height: number,
): Pick<NodeStatus, "assumeValid"> {
  if (!pin || height >= pin.height) return {};
  return { assumeValid: { ...pin, ...(uncheckedFrom !== undefined && { uncheckedFrom }) } };
}

function reportOf(deps: GatewayDeps): NodeReport {
  const { pool, peers } = deps;
  const { now: height, blocksCount, synced, progress } = statusOf(deps);
  return {
    height,
    headAgeSeconds: deps.now() - deps.head().timestamp,
    blocksBehind: blocksCount,
    synced,
    revertedBlocks: deps.revertedBlocks(),
    ...(progress && { progress }),
    poolSize: pool.size(),
    ...pool.figures(),
    peers: peers?.list().length ?? 0,
    traffic: peers?.traffic() ?? { receivedBytes: 0, sentBytes: 0 },
    ...(peers && { peerBounds: peers.bounds() }),
    ...deps.forging(),
    facts: deps.facts(),
    ...(deps.mirror && { mirror: deps.mirror() }),
    heapBytes: process.memoryUsage().heapUsed,
    logLinesLost: deps.logLinesLost(),
  };
}

async function refuseDevCommands(): Promise<never> {
  throw new DevError("DEV_ONLY", "these commands exist only on a dev chain, started with `uniknode dev`");
}

/** Parts of a node that its gateway connects. */
export type GatewayParts = {
  readonly core: NodeCore;
  readonly peers: Peers | undefined;
  readonly forging: Forging;
  readonly mirror: Mirror | undefined;
};

/** Creates the gateway of a node from its parts. */
export function openGateway(
  options: NodeOptions,
  { createDev, lostLogLines = () => 0 }: NodeDeps,
  { core, peers, forging, mirror }: GatewayParts,
  onStop: Closing["add"],
): Gateway {
  const { shared, consensus, facts, pool } = core;
  const { network, slots, now, subscribedEvents } = shared;
  const { chain } = consensus;
  const { forger } = forging;
  const loopDelay = new LoopDelayMonitor();
  onStop("measuring", () => loopDelay.close());
  return new NodeGateway(options, {
    pool,
    ...(peers && { peers }),
    network,
    slots,
    head: chain.head,
    blocks: chain.blocks,
    assumption: () => chain.assumption(),
    revertedBlocks: () => chain.revertedBlocks(),
    now,
    forging: () => forging.figures(),
    facts: () => facts.figures(),
    ...(mirror && { mirror: () => mirror.figures() }),
    loopDelay: () => loopDelay.read(),
    logLinesLost: lostLogLines,
    subscribedEvents,
    ...(createDev && { dev: createDev({ chain, pool, forger, slots }) }),
  });
}
