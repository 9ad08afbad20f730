/** The parts of a node that need no other node: data folder, event log, verifier threads, chain, tree of facts and pool. */
import type { Block } from "@uniknode/protocol";
import type { Logger } from "pino";
import { type Pin, type PinNews, pinText } from "../../chain/assumption.ts";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../chain/chain.ts";
import { createSelection } from "../../event-log/subscribed-events.ts";
import { eventsOfRevert } from "../../events/block-events.ts";
import { FactsTask } from "../../facts/task.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { type Subscribe, Subscribers } from "../../platform/notifier.ts";
import { type PoolEvent, toPublicEvent } from "../../pool/events.ts";
import { Pool } from "../../pool/pool.ts";
import type { Database } from "../../store/engine/database.ts";
import { hasHistory } from "../../store/history/writer.ts";
import { createPoolStore } from "../../store/node/pool.ts";
import { CachingVerifier, createVerifyNow } from "../../verification/caching-verifier.ts";
import { BatchVerifier, type Verifier } from "../../verification/verifier.ts";
import { RecordedSignatures } from "../../verification/wallet-signatures.ts";
import { systemClock } from "../../webhooks/collaborators.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { type NodeEventLog, openNodeEventLog } from "./event-log.ts";
import { createEnvironment, type Environment, type NodeDeps, type NodeOptions } from "./node-options.ts";

export type NodeCore = NodePool & {
  /** Dependencies of most parts of the node. */
  readonly shared: Environment & NodeEventLog & Pick<DataFolder, "database">;
  readonly folder: DataFolder;
  readonly consensus: Consensus;
  readonly facts: FactsTask;
};

export function openCore(options: NodeOptions, deps: NodeDeps, onStop: Closing["add"]): NodeCore {
  const environment = createEnvironment(deps);
  const { network, logger } = environment;
  const { claimFolder = () => {} } = deps;
  const folder = openDataFolder(options, { network, logger, claimFolder }, onStop);
  const { database } = folder;
  const eventLog = openNodeEventLog(options, { database, logger }, onStop);
  const shared = { ...environment, ...eventLog, database };
  const consensus = createConsensus(options, { ...shared, genesis: deps.genesis }, onStop);
  const facts = new FactsTask({ database, network, isDevChain: deps.createDev !== undefined, logger });
  onStop("tree of facts", () => facts.close());
  const { pool, subscribeToPool } = createNodePool(options.pool, { ...shared, ...consensus }, onStop);
  return { shared, folder, consensus, facts, pool, subscribeToPool };
}

type ConsensusDeps = Environment &
  Pick<NodeEventLog, "events" | "subscribedEvents"> & {
    readonly database: Database;
    readonly genesis: Block;
  };

type Consensus = {
  readonly verifier: Verifier;
  readonly signatures: RecordedSignatures;
  readonly chain: Chain;
};

/** Threads that verify signatures; one core remains for the consensus thread. */
const VERIFIER_THREADS = 2;
/** Signatures that the consensus thread verifies itself in each tick of its event loop: 0.7 ms at most. */
const OWN_PER_TURN = 16;
/** Number of known signatures: enough for a full pool with ordinary traffic, from submission to block; 2 MB. */
const MAX_KNOWN = 10_000;
/** Number of verdicts about second signatures and multisignatures: those of a full pool, about 4 MB. */
const MAX_RECORDED = 16_000;

/**
 * Creates the verifier threads and the chain, which writes its events with its blocks.
 *
 * @throws {ChainError} if the database has another chain, or one that was not checked
 */
export function createConsensus(
  options: Pick<NodeOptions, "assumeValid" | "feedBlocks" | "history">,
  { database, genesis, network, slots, nowMs, events, subscribedEvents, logger }: ConsensusDeps,
  onStop: Closing["add"],
): Consensus {
  const verifier = new CachingVerifier(
    { ownPerTurn: OWN_PER_TURN, maxKnown: MAX_KNOWN },
    new BatchVerifier({
      threads: VERIFIER_THREADS,
      onRefusal: (reason) => logger.warn({ reason }, "verifying signatures with a slower implementation"),
    }),
  );
  onStop("verifier", () => verifier.close());
  const signatures = new RecordedSignatures(MAX_RECORDED, {
    network,
    verify: (checks) => verifier.verify(checks),
    verifyNow: createVerifyNow(),
  });
  const chain = new Chain(
    {
      ...DEFAULT_CHAIN_OPTIONS,
      feedBlocks: options.feedBlocks,
      recordsHistory: chooseHistory(options.history, database, logger) === "full",
    },
    {
      database,
      network,
      genesis,
      verifier,
      signatures,
      events,
      eventsOfFacts: createSelection({
        subscribedEvents,
        slots,
        // A clock that is ahead for some minutes makes no block old.
        now: () => slots.timeAt(Math.min(nowMs(), systemClock.steadyMs())),
      }),
      eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
      now: nowMs,
      assumeValid: options.assumeValid,
      onPin: (news) => logPin(news, logger),
      onListenerError: (err) => logger.error({ err }, "a listener of the chain failed"),
      onUnexpectedError: (err, { height, id }) =>
        logger.error({ err, height, id }, "block not applied: internal error"),
    },
  );
  onStop("chain", () => chain.close());
  if (options.assumeValid) logStart(options.assumeValid, chain, logger);
  return { verifier, signatures, chain };
}

/** Returns the option, or else what the data folder contains: a forgotten option must not remove years of records. */
function chooseHistory(given: NodeOptions["history"], database: Database, logger: Logger): "full" | "head" {
  const hasRecords = hasHistory(database);
  if (given === "head" && hasRecords) logger.warn("removing the earlier states, because of --history head");
  return given ?? (hasRecords ? "full" : "head");
}

function logStart(pin: Pin, chain: Chain, logger: Logger): void {
  const stored = chain.blocks.header(pin.height);
  if (stored && stored.id !== pin.id) logPin({ kind: "other", pin, id: stored.id }, logger);
  if (stored) return;
  if (!chain.assumption().pin) {
    logger.warn(
      { pin: pinText(pin) },
      "a previous start did not find the block of --assume-valid on the chain: checking all signatures",
    );
    return;
  }
  logger.info(
    { pin: pinText(pin), height: chain.head().height },
    "not checking signatures of fetched blocks up to the block of --assume-valid",
  );
}

function logPin(news: PinNews, logger: Logger): void {
  const pin = pinText(news.pin);
  switch (news.kind) {
    case "reached":
      logger.info({ pin }, "reached the block of --assume-valid: checking all signatures from here on");
      break;
    case "other":
      logger.warn(
        { pin, id: news.id },
        "the chain does not contain the block of --assume-valid; the signatures of all its blocks were checked",
      );
      break;
    case "failed":
      logger.error(
        { pin, height: news.height },
        "the fetched chain does not contain the block of --assume-valid: discarding unchecked blocks and checking all signatures",
      );
  }
}

export type NodePool = {
  readonly pool: Pool;
  /** The listener is called after each change was logged, within the database transaction that makes it durable. */
  readonly subscribeToPool: Subscribe<PoolEvent>;
};

type NodePoolDeps = Pick<Environment, "network" | "now" | "logger"> &
  Pick<NodeEventLog, "events" | "reporter"> & {
    readonly chain: Pick<Chain, "state" | "head" | "isBusy" | "storedIds">;
    readonly verifier: Pick<Verifier, "verify">;
    readonly signatures: RecordedSignatures;
    readonly database: Database;
  };

export function createNodePool(
  options: NodeOptions["pool"],
  { chain, verifier, signatures, database, network, now, events, reporter, logger }: NodePoolDeps,
  onStop: Closing["add"],
): NodePool {
  const changes = new Subscribers<PoolEvent>();
  changes.subscribe((event) => {
    // Most nodes have no subscriber: transactions are copied only for one.
    if (events.isRecorded(event.name)) reporter.log(toPublicEvent(event));
  });
  const pool = new Pool(options, {
    network,
    state: chain.state,
    head: chain.head,
    now,
    storedIds: chain.storedIds,
    store: createPoolStore(database),
    verify: (checks) => verifier.verify(checks),
    signatures,
    isChainBusy: chain.isBusy,
    emit: (change) => changes.notify(change),
    isLogged: (name) => events.isRecorded(name),
    onWriteFailed: (err) => logger.error({ err }, "failed to write changes of the pool; retrying"),
    onRecheckFailed: (err) =>
      logger.error({ err }, "failed to recheck pending transactions; retrying after the next block"),
  });
  onStop("pool", () => pool.close());
  return { pool, subscribeToPool: (listener) => changes.subscribe(listener) };
}
