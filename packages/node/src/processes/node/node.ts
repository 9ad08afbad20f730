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
import { createNodeForging, createSubmitBlock, Readiness, type SubmitBlock } from "./forging.ts";
import type { Mirror } from "./mirror.ts";
import { type GatewayParts, openGateway } from "./node-gateway.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";
import type { NodePeers } from "./peers.ts";
import { type NodeServing, startServing } from "./serving.ts";

/**
 * Starts a node and waits until it serves.
 *
 * @throws {Error} of the part that cannot start; all parts that were started are closed
 */
export async function startNode(options: NodeOptions, deps: NodeDeps): Promise<Node> {
  const closing = new Closing();
  try {
    return await start(options, deps, closing);
  } catch (error) {
    await closing.closeAll(deps.logger);
    const remedy = deps.createDev ? REMEDY : RUN_REMEDY;
    throw dataErrorOf(error, join(options.data, "node.sqlite"), remedy);
  }
}

async function start(options: NodeOptions, deps: NodeDeps, closing: Closing): Promise<Node> {
  const onStop: Closing["add"] = (name, close) => closing.add(name, close);
  onStop("serving thread", () => deps.servingThread.close());
  const core = openCore(options, deps, onStop);
  const { shared, folder, pool, subscribeToPool, facts } = core;
  const { chain } = core.consensus;
  const { grown } = shared;
  const readiness = new Readiness(shared);
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
  return new Node(options, { core, peers, forging, serving, submitBlock, readiness, closing });
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
  const deps = { core, genesisBlock, httpPort, onSynced: () => readiness.reach() };
  return createNodePeers(options.peers, options, deps, onStop);
}

type OpenParts = Omit<GatewayParts, "mirror"> &
  PeerParts & {
    readonly serving: NodeServing;
    readonly submitBlock: SubmitBlock;
    readonly closing: Closing;
  };

export class Node {
  /** Base URL of API and webhooks. */
  readonly url: string;
  readonly webhookToken: string;
  /** URL that signs in at the console, once; only on a dev chain with a console. */
  readonly consoleUrl: string | undefined;
  readonly head: () => BlockHeader;
  /** Rejects when an essential part fails, or another node may use the data folder. */
  readonly failed: Promise<never>;
  readonly #canForge: boolean;
  readonly #chain: Chain;
  readonly #parts: OpenParts;

  constructor({ delegates }: Pick<NodeOptions, "delegates">, parts: OpenParts) {
    const { core, serving } = parts;
    const { chain } = core.consensus;
    this.url = serving.url;
    this.webhookToken = core.folder.webhookToken;
    this.consoleUrl = serving.consoleUrl;
    this.head = chain.head;
    this.failed = firstOf([serving.died, core.folder.lost]);
    this.#canForge = delegates.size > 0;
    this.#chain = chain;
    this.#parts = parts;
  }

  /** Returns true if the event loop of the serving thread runs. */
  isServing(): boolean {
    return this.#parts.serving.isServing();
  }

  /** Returns the balance in the smallest unit; 0 for an unknown wallet. */
  balanceOf(address: string): bigint {
    return this.#chain.state.get("wallets", address)?.balance ?? 0n;
  }

  /** The listener is called with every block that becomes the head. */
  onBlock(listener: (header: BlockHeader) => void): void {
    this.#chain.subscribe(({ applied }) => {
      for (const { block } of applied) listener(block.header);
    });
  }

  /**
   * Accepts a block that was created elsewhere.
   *
   * @throws {Error} with the reason, if the chain refuses it
   */
  async accept(block: EncodedBlock): Promise<void> {
    const refusal = await this.#parts.submitBlock(block);
    if (refusal !== undefined) throw new Error(`block ${block.header.height} was refused: ${refusal}`);
  }

  /**
   * Listens for peers and searches for some; resolves after the first search, or at once for a node without peers.
   *
   * @throws {Error} when it cannot listen
   */
  async join(): Promise<void> {
    const { peers, core } = this.#parts;
    if (!peers) return;
    const port = await peers.start();
    core.shared.logger.info({ port, peers: peers.list().length }, "listening for peers");
  }

  /** Begins to forge; until then the node only applies blocks. */
  startForging(): void {
    const { peers, readiness, forging } = this.#parts;
    if (!peers) readiness.reach();
    if (this.#canForge) forging.forger.start();
  }

  /** Returns the part that `stop` is closing, if any. */
  closing(): string | undefined {
    return this.#parts.closing.current();
  }

  /** Ends all running work and closes everything. */
  stop(): Promise<void> {
    const { closing, core } = this.#parts;
    return closing.closeAll(core.shared.logger);
  }
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
  // The error of one part is logged, and keeps the change from no other part.
  chain.subscribe(({ applied, revertedBlocks, returned }) => {
    if (revertedBlocks > 0) pool.blocksReverted(returned);
    for (const { block, changes } of applied) {
      const addresses = changes.flatMap(({ table, key }) => (table === "wallets" ? [key] : []));
      pool.blockApplied(block.transactions, new Set(addresses));
    }
  });
  chain.subscribe(({ applied }) => {
    for (const { block } of applied) forging.blockApplied(block.header);
  });
  chain.subscribe(() => grown.notify());
  chain.subscribe((change) => facts.chainChanged(change));
  subscribeToPool(({ name }) => {
    if (name === "transaction.pool.added") forging.forger.demand();
  });
  subscribeToHeaders?.((header) => forging.blockArrived(header));
}
