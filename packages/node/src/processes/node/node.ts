/** The composition root: builds every part in order, and closes them in reverse. */
import { join } from "node:path";
import type { BlockHeader, EncodedBlock } from "@uniknode/protocol";
import { REMEDY } from "../../dev-chain/folder.ts";
import { startFactsTask } from "../../facts/task.ts";
import { type Closing, createClosing } from "../../platform/lifecycle/closing.ts";
import { beat, createHeartbeats } from "../../platform/lifecycle/heartbeats.ts";
import { measureLoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import { dataErrorOf, RUN_REMEDY } from "../../store/engine/data-error.ts";
import { createConsensus } from "./consensus.ts";
import { openDataFolder } from "./data-folder.ts";
import { createEnvironment } from "./environment.ts";
import { openNodeEventLog } from "./event-log.ts";
import { compareFacts } from "./facts-comparison.ts";
import { createNodeForging } from "./forging.ts";
import { createGateway } from "./node-gateway.ts";
import type { NodeDeps, NodeOptions } from "./options.ts";
import { createSubmitBlock } from "./own-blocks.ts";
import { createNodePool } from "./pool.ts";
import { createReadiness } from "./readiness.ts";
import { startServing } from "./serving.ts";
import { connectParts } from "./subscriptions.ts";

export type Node = {
  /** Base URL of API and webhooks. */
  readonly url: string;
  /** Returns true if the event loop of the serving thread runs. */
  isServing(): boolean;
  readonly webhookToken: string;
  /** Signs in at the console, once; only of a dev chain with a console. */
  readonly consoleUrl: string | undefined;
  readonly head: () => BlockHeader;
  /** Balance in the smallest unit; 0 for an unknown wallet. */
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
   * Listens for peers and searches for some; settles after the first search, or at once for a node without peers.
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
 * @throws {Error} of the part that cannot start; the parts that were started before it are closed again
 */
export async function startNode(options: NodeOptions, deps: NodeDeps): Promise<Node> {
  const closing = createClosing();
  const stop = () => closing.closeAll(deps.logger);
  try {
    const node = await start(options, deps, closing.add);
    return { ...node, closing: closing.current, stop };
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
  const {
    files,
    genesis,
    genesisBlock,
    lostLogLines = () => 0,
    shownOptions = [],
    createDev,
    devAccounts,
    servingThread: thread,
  } = deps;
  const isDevChain = createDev !== undefined;
  onStop("serving thread", thread.close);
  const environment = createEnvironment(deps);
  const { network, slots, now, nowMs, logger } = environment;

  const folder = openDataFolder(options, logger, onStop);
  const { database, webhookToken } = folder;
  const eventLog = openNodeEventLog(options, { database, logger }, onStop);
  const { events, log, report, subscribedEvents, grown } = eventLog;
  const parts = { ...environment, ...eventLog, database };
  const { verifier, signatures, chain } = createConsensus(options, { ...parts, genesis }, onStop);
  const facts = startFactsTask({ database, network, isDevChain, logger });
  onStop("tree of facts", facts.close);
  const comparison =
    options.compareWith.length > 0
      ? await compareFacts(options.compareWith, { ...parts, databasePath: folder.databasePath }, onStop)
      : undefined;
  const pool = createNodePool(options.pool, { ...parts, chain, verifier, signatures }, onStop);

  const readiness = createReadiness({ report, nowMs });
  const httpPort = () => thread.port() ?? options.httpPort;
  const onSynced = readiness.reach;
  const peers =
    options.peers &&
    // A node without peers does not load their code.
    (await import("./peers.ts")).createNodePeers(
      options.peers,
      options,
      { ...parts, genesisBlock, chain, verifier, pool, httpPort, onSynced },
      onStop,
    );
  const submit = createSubmitBlock({ chain, peers, events, log });
  const { writes } = folder;
  const forging = createNodeForging(
    options,
    { ...parts, writes, chain, pool, peers, submit, readiness },
    onStop,
  );
  const { forger } = forging;
  connectParts({ chain, pool, peers, forging, grown, facts });

  const heartbeats = createHeartbeats();
  onStop("heartbeat", beat(heartbeats, "consensus").close);
  const loopDelay = measureLoopDelay();
  onStop("measuring", loopDelay.close);
  const gateway = createGateway(
    options,
    {
      pool,
      ...(peers && { peers }),
      network,
      head: chain.head,
      assumption: chain.assumption,
      now,
      forging: forging.figures,
      facts: facts.figures,
      ...(comparison && { comparison: comparison.figures }),
      loopDelay: loopDelay.read,
      logLinesLost: lostLogLines,
      webhooksChanged: subscribedEvents.webhooksChanged,
      streamsChanged: subscribedEvents.streamsChanged,
      ...(createDev && { dev: createDev({ chain, pool, forger, slots }) }),
    },
  );
  const { url, operationsUrl, consoleUrl, isServing, died } = await startServing(
    options,
    {
      ...{ thread, folder, heartbeats, files, genesisBlock, shownOptions, gateway, grown, logger },
      ...{ isDevChain, devAccounts },
    },
    onStop,
  );
  onStop("forger", forger.stop);
  folder.describe({ url, ports: portsOf([url, operationsUrl], options.peers?.port) });

  return {
    url,
    consoleUrl,
    isServing,
    webhookToken,
    head: chain.head,
    balanceOf: (address) => chain.state.get("wallets", address)?.balance ?? 0n,
    onBlock: (listener) =>
      void chain.subscribe(({ applied }) => {
        for (const { block } of applied) listener(block.header);
      }),
    async accept(block) {
      const refusal = await submit(block);
      if (refusal !== undefined) throw new Error(`block ${block.header.height} was refused: ${refusal}`);
    },
    async join() {
      if (!peers) return;
      const port = await peers.start();
      logger.info({ port, peers: peers.list().length }, "listening for peers");
    },
    startForging() {
      if (!peers) readiness.reach();
      if (options.delegates.size > 0) forger.start();
    },
    failed: firstOf([died, folder.lost]),
  };
}

/** Ports that the node listens on; a free port for peers is not known before `join`. */
const portsOf = (urls: readonly string[], peerPort = 0): number[] => [
  ...new Set([...urls.map((url) => Number(URL.parse(url)?.port)), peerPort].filter((port) => port > 0)),
];

/**
 * Rejects with the first failure of several parts. A failure for which nothing waits does not become an
 * unhandled rejection.
 */
function firstOf(failures: readonly Promise<never>[]): Promise<never> {
  const first = Promise.race(failures);
  first.catch(() => {});
  return first;
}
