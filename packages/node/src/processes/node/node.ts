/** The composition root of a node: builds every part in order, connects them, and closes them in reverse. */
import { join } from "node:path";
import type { BlockHeader, EncodedBlock } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import { REMEDY } from "../../dev-chain/folder.ts";
import type { FactsTask } from "../../facts/task.ts";
import type { Forging } from "../../forger/forging.ts";
import { Closing } from "../../platform/lifecycle/closing.ts";
import { beat, createHeartbeats } from "../../platform/lifecycle/event-loop.ts";
import type { Pool } from "../../pool/pool.ts";
import { dataErrorOf, RUN_REMEDY } from "../../store/engine/data-error.ts";
import { type NodeCore, type NodePool, openCore } from "./core.ts";
import type { NodeEventLog } from "./event-log.ts";
import {
  createNodeForging,
  createReadiness,
  createSubmitBlock,
  type Readiness,
  type SubmitBlock,
} from "./forging.ts";
import type { Mirror } from "./mirror.ts";
import { type GatewayParts, openGateway } from "./node-gateway.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";
import type { NodePeers } from "./peers.ts";
import { type NodeServing, startServing } from "./serving.ts";

export type Node = {
  /** Base URL of API and webhooks. */
  readonly url: string;
  /** Returns true if the event loop of the serving thread runs. */
  isServing(): boolean;
  readonly webhookToken: string;
  /** URL that signs in at the console, once; only on a dev chain with a console. */
  readonly consoleUrl: string | undefined;
  readonly head: () => BlockHeader;
  /** Returns the balance in the smallest unit; 0 for an unknown wallet. */
  readonly balanceOf: (address: string) => bigint;
  /** The listener is called with every block that becomes the head. */
  onBlock(listener: (header: BlockHeader) => void): void;
  /**
   * Accepts a block that was created elsewhere.
   *
   * @throws {Error} with the reason, if the chain refuses it
   */
  accept(block: EncodedBlock): Promise<void>;
  /**
   * Listens for peers and searches for some; resolves after the first search, or at once for a node without peers.
   *
   * @throws {Error} when it cannot listen
   */
  join(): Promise<void>;
  /** Begins to forge; until then the node only applies blocks. */
  startForging(): void;
  /** Rejects when an essential part fails, or another node may use the data folder. */
  readonly failed: Promise<never>;
  /** Returns the part that `stop` is closing, if any. */
  closing(): string | undefined;
  /** Ends all running work and closes everything. */
  stop(): Promise<void>;
};

/**
 * Starts a node and waits until it serves.
 *
 * @throws {Error} of the part that cannot start; all parts that were started are closed
 */
export async function startNode(options: NodeOptions, deps: NodeDeps): Promise<Node> {
  const closing = new Closing();
  const stop = () => closing.closeAll(deps.logger);
  try {
    const node = await start(options, deps, (name, close) => closing.add(name, close));
    return { ...node, closing: () => closing.current(), stop };
  } catch (error) {
    await stop();
    const remedy = deps.createDev ? REMEDY : RUN_REMEDY;
    throw dataErrorOf(error, join(options.data, "node.sqlite"), remedy);
  }
}

async function start(
  options: NodeOptions,
  deps: NodeDeps,
  onStop: Closing["add"],
): Promise<Omit<Node, "closing" | "stop">> {
  onStop("serving thread", deps.servingThread.close);
  const core = await openCore(options, deps, onStop);
  const { shared, folder, pool, subscribeToPool, facts } = core;
  const { chain } = core.consensus;
  const { grown } = shared;
  const readiness = createReadiness(shared);
  const { peers, subscribeToHeaders } =
    (await openPeers(options, deps, { core, readiness }, onStop)) ?? NO_PEERS;
  const submitBlock = createSubmitBlock({ ...shared, chain, peers });
  const { writes } = folder;
  const forging = createNodeForging(
    options,
    { ...shared, writes, chain, pool, peers, submitBlock, readiness },
    onStop,
  );
  connectParts({ chain, pool, subscribeToPool, subscribeToHeaders, forging, grown, facts });

  const heartbeats = createHeartbeats();
  onStop("heartbeat", beat(heartbeats, "consensus").close);
  const mirror = await openMirror(options, core);
  const gateway = openGateway(options, deps, { core, peers, forging, mirror }, onStop);
  const serving = await startServing(options, deps, { core, heartbeats, gateway }, onStop);
  onStop("forger", () => forging.forger.stop());
  const { url, operationsUrl } = serving;
  if (mirror) {
    onStop("mirror", () => mirror.close());
    mirror.start(url);
  }
  folder.describe({ url, ports: portsOf([url, operationsUrl], options.peers?.port) });
  return toNode(options, { core, peers, forging, mirror, serving, submitBlock, readiness });
}

/** A node without a mirror does not load its code. */
async function openMirror(
  options: NodeOptions,
  { folder, shared }: Pick<NodeCore, "folder" | "shared">,
): Promise<Mirror | undefined> {
  if (options.mirror === undefined) return undefined;
  const { Mirror, toMirrorConfig } = await import("./mirror.ts");
  return new Mirror(toMirrorConfig(options, folder.webhookToken), shared.logger);
}

const NO_PEERS = { peers: undefined, subscribeToHeaders: undefined };

type PeerParts = { readonly core: NodeCore; readonly readiness: Readiness };

/** A node without peers does not load their code. */
async function openPeers(
  options: NodeOptions,
  { genesisBlock, servingThread }: NodeDeps,
  { core, readiness }: PeerParts,
  onStop: Closing["add"],
): Promise<NodePeers | undefined> {
  if (!options.peers) return undefined;
  const { createNodePeers } = await import("./peers.ts");
  const httpPort = () => servingThread.port() ?? options.httpPort;
  const deps = { core, genesisBlock, httpPort, onSynced: readiness.reach };
  return createNodePeers(options.peers, options, deps, onStop);
}

type OpenParts = GatewayParts &
  PeerParts & { readonly serving: NodeServing; readonly submitBlock: SubmitBlock };

function toNode(
  { delegates }: NodeOptions,
  { core, peers, forging, serving, submitBlock, readiness }: OpenParts,
): Omit<Node, "closing" | "stop"> {
  const { shared, folder, consensus } = core;
  const { chain } = consensus;
  const { url, consoleUrl, isServing, died } = serving;
  return {
    url,
    consoleUrl,
    isServing,
    webhookToken: folder.webhookToken,
    head: chain.head,
    balanceOf: (address) => chain.state.get("wallets", address)?.balance ?? 0n,
    onBlock: (listener) =>
      void chain.subscribe(({ applied }) => {
        for (const { block } of applied) listener(block.header);
      }),
    async accept(block) {
      const refusal = await submitBlock(block);
      if (refusal !== undefined) throw new Error(`block ${block.header.height} was refused: ${refusal}`);
    },
    async join() {
      if (!peers) return;
      const port = await peers.start();
      shared.logger.info({ port, peers: peers.list().length }, "listening for peers");
    },
    startForging() {
      if (!peers) readiness.reach();
      if (delegates.size > 0) forging.forger.start();
    },
    failed: firstOf([died, folder.lost]),
  };
}

/** Returns the ports that the node listens on; a free port for peers is not known before `join`. */
const portsOf = (urls: readonly string[], peerPort = 0): number[] => [
  ...new Set([...urls.map((url) => Number(URL.parse(url)?.port)), peerPort].filter((port) => port > 0)),
];

/**
 * Rejects with the first failure of several parts. A failure that no caller awaits does not become an unhandled
 * rejection.
 */
function firstOf(failures: readonly Promise<never>[]): Promise<never> {
  const first = Promise.race(failures);
  first.catch(() => {});
  return first;
}

type ConnectedParts = {
  readonly chain: Pick<Chain, "subscribe">;
  readonly pool: Pick<Pool, "blocksReverted" | "blockApplied">;
  readonly subscribeToPool: NodePool["subscribeToPool"];
  /** Absent for a node without peers. */
  readonly subscribeToHeaders: NodePeers["subscribeToHeaders"] | undefined;
  readonly forging: Pick<Forging, "blockApplied" | "blockArrived"> & {
    readonly forger: Pick<Forging["forger"], "demand">;
  };
  readonly grown: Pick<NodeEventLog["grown"], "notify">;
  readonly facts: Pick<FactsTask, "chainChanged">;
};

/** Subscribes each part to the events of others, in a fixed order. */
export function connectParts({
  chain,
  pool,
  subscribeToPool,
  subscribeToHeaders,
  forging,
  grown,
  facts,
}: ConnectedParts): void {
  chain.subscribe(({ applied, revertedBlocks, returned }) => {
    if (revertedBlocks > 0) pool.blocksReverted(returned);
    for (const { block, changes } of applied) {
      const addresses = changes.flatMap(({ table, key }) => (table === "wallets" ? [key] : []));
      pool.blockApplied(block.transactions, new Set(addresses));
      forging.blockApplied(block.header);
    }
    grown.notify();
  });
  chain.subscribe((change) => facts.chainChanged(change));
  subscribeToPool(({ name }) => {
    if (name === "transaction.pool.added") forging.forger.demand();
  });
  subscribeToHeaders?.((header) => forging.blockArrived(header));
}
