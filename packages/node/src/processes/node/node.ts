/** The composition root: builds every part in order, and closes them in reverse. */
import { join } from "node:path";
import { createRounds } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createNetwork,
  createSlots,
  type EncodedBlock,
  type NetworkFiles,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import { createChain, DEFAULT_CHAIN_OPTIONS } from "../../chain/chain.ts";
import { refusalOf } from "../../chain/outcome.ts";
import { createVerifier } from "../../chain/pipeline/verifier.ts";
import { defaultPeerPort } from "../../config/peers.ts";
import type { CreateDev } from "../../dev-chain/verbs.ts";
import { maxAgeSecondsOf } from "../../event-log/recorded.ts";
import { createReporter } from "../../event-log/reporter.ts";
import { DEFAULT_EVENT_RETENTION, startEventRetention } from "../../event-log/retention.ts";
import { createSelection } from "../../event-log/selection.ts";
import { createInterest } from "../../event-log/subscribed.ts";
import { eventOfArrival, eventsOfRevert } from "../../events/block-events.ts";
import {
  eventOfForgerFailure,
  eventOfForgerStart,
  eventOfPeer,
  eventOfSeparateForger,
  eventOfStart,
  eventsOfForging,
} from "../../events/node-events.ts";
import type { Delegates } from "../../forger/delegates.ts";
import { createForging } from "../../forger/forging.ts";
import type { Timing } from "../../forger/timing.ts";
import type { PeersOptions } from "../../peers/options.ts";
import { createPeers } from "../../peers/peers.ts";
import { peerView } from "../../peers/table/view.ts";
import { createClosing } from "../../platform/lifecycle/closing.ts";
import { beat, createHeartbeats, MAX_SILENT_SECONDS, watch } from "../../platform/lifecycle/heartbeats.ts";
import { measureLoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import { createPool, type PoolOptions } from "../../pool/pool.ts";
import { eventOfPool } from "../../pool/pool-events.ts";
import { openDatabase } from "../../store/engine/database.ts";
import { isOpenToAll, lockDataFolder } from "../../store/engine/folder-lock.ts";
import { migrate } from "../../store/engine/migrations.ts";
import { createTurns, firstTurn } from "../../store/engine/write-lock.ts";
import { createWriteState, loggedTrouble, watchWrites } from "../../store/engine/writes.ts";
import { createEventLog } from "../../store/events/event-log.ts";
import { createWantedStore } from "../../store/events/subscribed.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { createPeerStore } from "../../store/node/peers.ts";
import { createPoolStore } from "../../store/node/pool.ts";
import { createSeal } from "../../store/webhooks/encryption.ts";
import { createWebhookStore } from "../../store/webhooks/webhooks.ts";
import { sealSecrets } from "../../webhooks/secrets/encrypt-secrets.ts";
import { webhookTokenOf } from "../../webhooks/secrets/token.ts";
import { type ServingOptions, servingDataOf } from "../serving/options.ts";
import { loadServingThread } from "../serving/thread.ts";
import { createGateway } from "./node-gateway.ts";

export type NodeOptions = ServingOptions & {
  /** Folder of the data. */
  readonly data: string;
  /** Package of a native signature accelerator, if one is to be used. */
  readonly accelerator: string | undefined;
  /** Keys to forge with; none means that this node only follows. */
  readonly delegates: Delegates;
  /** See `KeyFiles`. */
  readonly webhookKeyFile: string | undefined;
  readonly webhookOldKeyFile: string | undefined;
  /** Hours. While the node catches up, older blocks are told to nobody; 0 tells all of them. */
  readonly eventsMaxAge: number;
  /** Absent: this node neither listens for peers nor looks for any. */
  readonly peers: PeersOptions | undefined;
  readonly pool: PoolOptions;
  /** Of transactions, to the API. */
  readonly poolMaxPerRequest: number;
  readonly timing: Timing;
  /** See `ForgingOptions`. */
  readonly signingRecord: string | undefined;
  /** Rounds that the start watches for other forgers with the same keys; absent: none is looked for, ever. */
  readonly watchRounds: number | undefined;
  /** A block for each accepted submission, and none otherwise. */
  readonly isOnDemand: boolean;
};

export type NodeDeps = {
  readonly files: NetworkFiles;
  readonly genesis: Block;
  /** Content of the file that the genesis block is from, which clients ask for. */
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Lines of the log that could not be written. */
  readonly lostLogLines?: () => number;
  /** Only where the chain is a dev chain: what it can be told to do. */
  readonly createDev?: CreateDev;
};

export type Node = {
  /** Base URL of API and webhooks. */
  readonly url: string;
  /** Whether the serving thread turns. */
  isServing(): boolean;
  readonly webhookToken: string;
  readonly head: () => BlockHeader;
  /** Balance in the smallest unit; 0 for a wallet that is not known. */
  readonly balanceOf: (address: string) => bigint;
  /** Hears of every block that becomes the head. */
  onBlock(listener: (header: BlockHeader) => void): void;
  /**
   * Takes a block that was made outside.
   *
   * @throws {Error} saying why, if the chain does not take it
   */
  accept(block: EncodedBlock): Promise<void>;
  /**
   * Listens for peers and looks for some; settles when it has looked once, or at once where there are to be none.
   *
   * @throws {Error} when it cannot listen
   */
  join(): Promise<void>;
  /** Begins to forge; until then the node only takes blocks. */
  startForging(): void;
  /** Rejects when a part dies that the node cannot do without, or another node may use the data folder. */
  readonly failed: Promise<never>;
  /** The part that `stop` is closing, if it is. */
  closing(): string | undefined;
  /** Ends what is under way and closes everything. */
  stop(): Promise<void>;
};

/** Threads that verify signatures; the thread of consensus keeps a core for itself. */
const VERIFIER_THREADS = 2;
/** Bytes of a block kept free for its header and lengths. */
const BLOCK_OVERHEAD_BYTES = 10_240;

/**
 * Starts a node and waits until it serves.
 *
 * @throws {Error} of the part that cannot start; what was started before is closed again
 */
export async function startNode(options: NodeOptions, deps: NodeDeps): Promise<Node> {
  const closing = createClosing();
  const { logger } = deps;
  const stop = () => closing.closeAll(logger);
  try {
    const node = await start(options, deps, closing.add);
    return { ...node, closing: closing.current, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type AddClosing = (part: string, close: () => void | Promise<void>) => void;

async function start(
  options: NodeOptions,
  { files, genesis, genesisBlock, nowMs, logger, lostLogLines = () => 0, createDev }: NodeDeps,
  onStop: AddClosing,
): Promise<Omit<Node, "closing" | "stop">> {
  const servingThread = loadServingThread();
  onStop("serving thread", servingThread.close);
  const network = createNetwork(files);
  const slots = createSlots(network);
  const rounds = createRounds(network);
  const now = () => slots.timeAt(nowMs());

  const lock = lockDataFolder(options.data);
  onStop("data folder", lock.release);
  if (isOpenToAll(options.data)) {
    logger.warn({ folder: options.data }, "every user of this machine can look into the data folder");
  }
  const databasePath = join(options.data, "node.sqlite");
  const turns = createTurns();
  const writeState = createWriteState();
  const writes = watchWrites(writeState, loggedTrouble(logger));
  const database = openDatabase(databasePath, { turn: firstTurn(turns), writes });
  onStop("database", database.close);
  migrate(database);
  const sealKey = sealSecrets(database, options);
  const webhookToken = webhookTokenOf(options.webhookToken, createMetaStore(database), createSeal(sealKey));

  // Events age by the clock of the machine, even where that of the chain runs ahead.
  const events = createEventLog(database, { wanted: () => interest.names() });
  const interest = createInterest({
    store: createWantedStore(database),
    lastSequence: events.lastSequence,
    webhookNames: options.webhooks === "on" ? createWebhookStore(database).eventNames : () => new Set(),
    nowMs: Date.now,
  });
  const endRetention = startEventRetention(DEFAULT_EVENT_RETENTION, {
    events,
    interest,
    onError: (err) => logger.error({ err }, "old events cannot be dropped"),
  });
  onStop("event retention", endRetention);
  const verifier = createVerifier({ threads: VERIFIER_THREADS, accelerator: options.accelerator });
  onStop("verifier", verifier.close);
  const chain = createChain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis,
    verifier,
    events,
    eventsOfFacts: createSelection({
      interest,
      slots,
      now,
      maxAgeSeconds: maxAgeSecondsOf(options.eventsMaxAge),
    }),
    eventsOfRevert,
    now: nowMs,
    onListenerError: (err) => logger.error({ err }, "a listener of the chain failed"),
    onUnexpectedError: (err, { height, id }) =>
      logger.error({ err, height, id }, "a block was refused by no rule, but by a failure of this node"),
  });
  onStop("chain", chain.close);

  let wakeReaders = () => {};
  const { log, report } = createReporter({ database, events, onLogged: () => wakeReaders(), logger });

  const pool = createPool(options.pool, {
    network,
    state: chain.state,
    head: chain.head,
    now,
    storedIds: (ids) => new Set(chain.storedIds(ids)),
    store: createPoolStore(database),
    verify: verifier.verify,
    emit(event) {
      log(eventOfPool(event));
      if (event.name === "transaction.pool.added") forger.demand();
    },
    onWriteFailed: (err) => logger.error({ err }, "changes of the pool cannot be written; trying again"),
  });
  onStop("pool", pool.close);

  /** Of the block after the head. */
  const blockLimits = () => {
    const { maxTransactions, maxPayload } = network.milestoneAt(chain.head().height).block;
    return { maxTransactions, maxBytes: maxPayload - BLOCK_OVERHEAD_BYTES };
  };
  const selectTransactions = () => pool.select(blockLimits());

  /** The node is in step with its network for the first time, or has none. */
  const ready = Promise.withResolvers<void>();
  function becomeReady(): void {
    report(eventOfStart(nowMs()));
    ready.resolve();
  }

  /** The one that is really listened on, once it is. */
  let httpPort = options.httpPort;
  const peers =
    options.peers &&
    createPeers(options.peers, {
      network,
      slots,
      rounds,
      genesisBlock,
      chain,
      verify: verifier.verify,
      store: createPeerStore(database),
      pool: { submit: pool.submit, size: pool.size, get: pool.get, select: selectTransactions },
      plugins: () => ({ "@arkecosystem/core-api": { enabled: true, port: httpPort } }),
      isOwnDelegate: (publicKey) => options.delegates.has(publicKey),
      onPeer(peer, fate) {
        const view = peerView(peer, { port: options.peers!.port, network, nowMs: nowMs() });
        report(eventOfPeer(view, fate, nowMs()));
      },
      onBlock: (block, fate) => report(eventOfArrival(block, fate)),
      onForeignHeader: (header) => forging.blockArrived(header),
      onStarted: becomeReady,
      onForgerEvent: (name, body) => report(eventOfSeparateForger(name, body, nowMs())),
      nowMs,
      logger,
    });
  if (peers) onStop("peers", peers.close);

  /** Gives a block to the chain; the answer is why it was not taken, if it was not. */
  async function submit(block: EncodedBlock): Promise<string | undefined> {
    if (peers) return peers.submit(block);
    log(eventOfArrival(block, "received"));
    const [outcome] = await chain.accept([block]);
    return refusalOf(outcome!);
  }

  const forging = createForging(
    {
      timing: options.timing,
      onDemand: options.isOnDemand,
      signingRecord: options.signingRecord,
      watchRounds: options.watchRounds,
    },
    {
      delegates: options.delegates,
      database,
      network,
      slots,
      rounds,
      chain,
      selectTransactions,
      submit,
      // A node whose disk is full falls behind: that is not why the slot is missed.
      obstacle: async () => {
        const obstacle = await peers?.obstacle();
        return obstacle && [obstacle, writes.trouble()].filter(Boolean).join("; ");
      },
      onStarted: (publicKeys) =>
        void ready.promise.then(() => report(eventOfForgerStart(publicKeys, nowMs()))),
      onForged: (block) => report(...eventsOfForging(block)),
      onFailed: (error) => report(eventOfForgerFailure(error, nowMs())),
      nowMs,
      logger,
    },
  );
  onStop("signing record", forging.close);
  const { forger } = forging;
  chain.subscribe(({ applied, revertedBlocks, returned }) => {
    if (revertedBlocks > 0) pool.blocksReverted(returned);
    for (const { block, changes } of applied) {
      const addresses = changes.flatMap(({ table, key }) => (table === "wallets" ? [key] : []));
      pool.blockApplied(block.transactions, new Set(addresses));
      forging.blockApplied(block.header);
    }
    wakeReaders();
  });

  const heartbeats = createHeartbeats();
  onStop("heartbeat", beat(heartbeats, "consensus").close);
  const loopDelay = measureLoopDelay();
  onStop("measuring", loopDelay.close);
  const gateway = createGateway(
    { maxTransactionsPerRequest: options.poolMaxPerRequest },
    {
      pool,
      ...(peers && { peers }),
      network,
      head: chain.head,
      now,
      forging: forging.figures,
      loopDelay: loopDelay.read,
      logLinesLost: lostLogLines,
      webhooksChanged: interest.webhooksChanged,
      streamsChanged: interest.streamsChanged,
      ...(createDev && {
        dev: createDev({
          chain,
          pool: { ...pool, selectWith: (returned) => pool.selectWith(returned, blockLimits()) },
          forger,
          slots,
        }),
      }),
    },
  );
  const serving = await servingThread.start(
    servingDataOf(options, {
      databasePath,
      turns,
      writeState,
      heartbeats,
      files,
      genesisBlock,
      webhookToken,
      sealKey,
      feePolicy: options.pool.fees,
      peerPort: options.peers?.port ?? defaultPeerPort(files.network.name),
      maxTransactionsPerRequest: options.poolMaxPerRequest,
    }),
    gateway,
  );
  // Whoever is served must be answered before the rest closes.
  onStop("serving", servingThread.close);
  const servingWatch = watch(heartbeats, "serving", {
    onSilent: () => logger.error({ thread: "serving" }, "a thread does not turn"),
    onBack: (seconds) => logger.warn({ thread: "serving", seconds }, "a thread turns again"),
  });
  onStop("watch", servingWatch.close);
  wakeReaders = serving.wake;
  httpPort = serving.port;
  onStop("forger", forger.stop);

  return {
    url: serving.url,
    isServing: () => servingWatch.silentSeconds() < MAX_SILENT_SECONDS,
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
      if (!peers) becomeReady();
      if (options.delegates.size > 0) forger.start();
    },
    failed: firstOf([serving.died, lock.lost]),
  };
}

/** The first failure of several parts; a failure that nothing waits for is no error of its own. */
function firstOf(failures: readonly Promise<never>[]): Promise<never> {
  const first = Promise.race(failures);
  first.catch(() => {});
  return first;
}
