/** The parts that run in the serving thread of a node, with its sources: its database in SQLite. Each reader has a separate connection. */
import { dirname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { REMEDY } from "../../dev-chain/folder.ts";
import { SqlitePastEvents, toHistory } from "../../event-log/sqlite/history.ts";
import type { FactReader } from "../../facts/reader.ts";
import { SqliteFactReader } from "../../facts/sqlite/reader.ts";
import { EventReader } from "../../feed/event-reader.ts";
import { DEFAULT_FEED_OPTIONS, Feed } from "../../feed/feed.ts";
import { FeedReader } from "../../feed/reader.ts";
import { openStateRows } from "../../feed/state-rows.ts";
import { ChannelGateway } from "../../gateway/channel.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { DEFAULT_REMOTE_CALL_OPTIONS, RemoteCalls } from "../../gateway/remote-processes.ts";
import { SessionFile } from "../../http/console/sessions.ts";
import type { Identity } from "../../http/core/api.ts";
import type { OperatorRows } from "../../operations/overview.ts";
import { DiskSpace } from "../../platform/files/disk.ts";
import { beat, ThreadWatch } from "../../platform/lifecycle/event-loop.ts";
import type { ReadModel } from "../../read/port.ts";
import { SqliteReadModel } from "../../read/sqlite/read-model.ts";
import { ValueIndexBuilder } from "../../read/sqlite/value-index-builder.ts";
import { RUN_REMEDY } from "../../store/engine/data-error.ts";
import {
  createReadTogether,
  type Database,
  openDatabase,
  type Statement,
} from "../../store/engine/database.ts";
import { loggedTrouble, ordinaryWriteLock, Writes } from "../../store/engine/writes.ts";
import { EventLog } from "../../store/events/event-log.ts";
import { CopiedEvents } from "../../store/events/subscribed-events.ts";
import { SlotStore } from "../../store/node/slots.ts";
import { SqliteSource } from "../../stream/sqlite/source.ts";
import { DeliveryFigures } from "../../webhooks/figures.ts";
import { READER } from "../../webhooks/intake.ts";
import { SecretCipher } from "../../webhooks/secrets.ts";
import { OwnerStore } from "../../webhooks/sqlite/hand-over/owner.ts";
import { SqliteHandOverRows } from "../../webhooks/sqlite/hand-over/rows.ts";
import { SqliteStore } from "../../webhooks/sqlite/sql.ts";
import { openSqliteStorage } from "../../webhooks/sqlite/storage.ts";
import { assemble, type ServingProcess } from "./assembly.ts";
import { Inspector } from "./inspector.ts";
import { SlowQueryThread } from "./slow-queries/thread.ts";
import {
  type DatabaseState,
  openEnvironment,
  type ServingContext,
  type SlowQueries,
  type Sources,
  type WebhookSources,
} from "./sources.ts";
import type { ServingData } from "./thread.ts";

/** Opens the connections, listens and begins to deliver. */
export async function serve(data: ServingData, gatewayPort: MessagePort): Promise<ServingProcess> {
  const context = openNodeContext(data, gatewayPort);
  return assemble(context, openNodeSources(context));
}

/** Context of the serving thread of a node: the gateway over the channel to consensus, and its heartbeats. */
type NodeContext = ServingContext & {
  readonly data: ServingData;
  readonly gateway: Gateway;
  /** Returns a gateway whose calls have at most this time. */
  readonly gatewayWithin: (timeoutMs: number) => Gateway;
};

function openNodeContext(data: ServingData, gatewayPort: MessagePort): NodeContext {
  const environment = openEnvironment(data);
  const { closing, logger } = environment;
  const channel = new ChannelGateway(gatewayPort);
  closing.add("gateway", () => gatewayPort.close());
  closing.add("heartbeat", beat(data.heartbeats, "serving").close);
  const consensusWatch = new ThreadWatch(data.heartbeats, "consensus", logger);
  closing.add("watch", () => consensusWatch.close());
  return {
    ...environment,
    data,
    gateway: channel.gateway,
    gatewayWithin: (timeoutMs) => channel.within(timeoutMs),
    gatewayCalls: () => channel.figures(),
    consensusSilentSeconds: () => consensusWatch.silentSeconds(),
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();
/** Time limit for reading the rows of a response in the serving thread, because all other requests wait for it. */
const READ_TIMEOUT_MS = 50;
/** Time limit in the worker for slow queries. */
const SLOW_READ_TIMEOUT_MS = 2_000;

function openNodeSources(context: NodeContext): Sources {
  const { data, gateway, gatewayWithin, network, logger } = context;
  const hasFeed = data.feedBlocks > 0;
  const { database, writes } = openWriter(context);
  const facts = new SqliteFactReader(openReader(context, "facts reader"), network);
  const figuresReader = openReader(context, "figures reader");
  return {
    readModel: openReadModel(context),
    openSlowQueries: (identity) => openSlowQueries(context, identity),
    facts,
    stream: {
      source: new SqliteSource(openReader(context, "stream reader"), network),
      streamsChanged: (names) => gateway.streamsChanged(names),
    },
    webhooks: openWebhooks(context, database),
    deliveryFigures: new DeliveryFigures(new SqliteStore(figuresReader)),
    operatorRows: new SqliteOperatorRows(figuresReader),
    state: watchDatabase(context, database, writes),
    nodeFigures: () => gateway.figures(),
    feed: hasFeed ? openFeed(context, database, facts) : undefined,
    remoteCalls: hasFeed ? new RemoteCalls(DEFAULT_REMOTE_CALL_OPTIONS, gatewayWithin) : undefined,
    sessions: data.isDevChain ? new SessionFile(dirname(data.databasePath), logger) : undefined,
  };
}

/** Opens the only connection that writes: that of the webhook service and of the copies of the event log. */
function openWriter({ data, closing, logger }: NodeContext): { database: Database; writes: Writes } {
  const writes = new Writes(data.writeState, loggedTrouble(logger, dirname(data.databasePath)));
  const database = openDatabase(data.databasePath, {
    writeLock: ordinaryWriteLock(data.writeLock),
    writes,
    makesCheckpoints: false,
  });
  closing.add("database", database.close);
  return { database, writes };
}

/** Opens a read-only connection, which is closed with the thread. */
function openReader({ data, closing }: NodeContext, name: string): Database {
  const reader = openDatabase(data.databasePath, { readonly: true });
  closing.add(name, reader.close);
  return reader;
}

/** Begins to watch disk and database file. */
function watchDatabase(
  { data, closing, logger }: NodeContext,
  database: Database,
  writes: Writes,
): DatabaseState {
  const diskSpace = new DiskSpace(dirname(data.databasePath));
  closing.add("disk space", () => diskSpace.close());
  const inspector = new Inspector(
    { path: data.databasePath, files: data.files, remedy: data.isDevChain ? REMEDY : RUN_REMEDY },
    logger,
  );
  closing.add("inspection of the database", () => inspector.close());
  return {
    trouble: () => writes.trouble(),
    damage: () => inspector.figures().damage,
    freeBytes: () => diskSpace.freeBytes(),
    figures: () => ({
      failedWrites: writes.failures(),
      freeBytes: diskSpace.freeBytes(),
      logPages: database.logPages().total,
      inspections: inspector.figures(),
    }),
  };
}

function openReadModel(context: NodeContext): ReadModel {
  const { data, closing, logger, network } = context;
  const database = openReader(context, "reader");
  const builder = new ValueIndexBuilder(data.databasePath, (err) =>
    logger.error({ err }, "failed to build a value index"),
  );
  closing.add("builder of value indexes", () => builder.close());
  const options = { readTimeoutMs: READ_TIMEOUT_MS, valueIndexes: builder };
  return new SqliteReadModel(options, { database, network });
}

function openSlowQueries({ data, closing }: NodeContext, identity: Identity): SlowQueries {
  const { databasePath, files, logFormat } = data;
  const slowQueries = new SlowQueryThread({
    databasePath,
    files,
    identity,
    logFormat,
    readTimeoutMs: SLOW_READ_TIMEOUT_MS,
  });
  closing.add("slow requests", () => slowQueries.close());
  return slowQueries;
}

/** Returns undefined if the service is off: then no cursor retains events in the log, and no deliveries are created. */
function openWebhooks(
  { data, gateway, network }: NodeContext,
  database: Database,
): WebhookSources | undefined {
  const { databasePath, secretKey } = data;
  // The serving thread only reads the log, and writes its cursors.
  const eventLog = new EventLog(database, { recordedNames: () => NO_NAMES });
  const cipher = new SecretCipher(secretKey);
  const handOver = new SqliteHandOverRows({ database, databasePath, eventLog, cipher });
  if (data.webhooks === "off") {
    // During a hand-over, the cursor is the position from which the next owner continues.
    if (handOver.owner().state === "node") eventLog.removeCursor(READER);
    return undefined;
  }
  return {
    openStorage: () => openSqliteStorage({ database, eventLog, cipher }),
    handOver,
    webhooksChanged: () => gateway.webhooksChanged(),
    history: toHistory(new SqlitePastEvents(database, network), createReadTogether(database)),
  };
}

function openFeed(context: NodeContext, database: Database, facts: FactReader): Feed {
  const { databasePath } = context.data;
  const reader = openReader(context, "feed reader");
  const owner = new OwnerStore(database);
  const feed = new Feed(DEFAULT_FEED_OPTIONS, {
    reader: new FeedReader(reader),
    openState: () => openStateRows(databasePath),
    facts,
    events: new EventReader(reader),
    copiedEvents: new CopiedEvents(database),
    transfer: () => owner.read().transfer,
  });
  context.closing.add("feed", () => feed.close());
  return feed;
}

/** The rows for operators. Reads have settled when they return. */
class SqliteOperatorRows implements OperatorRows {
  readonly #slots: SlotStore;
  readonly #total: Statement<{ transactions: number }>;

  /** @param database may be a connection that only reads */
  constructor(database: Database) {
    this.#slots = new SlotStore(database);
    this.#total = database.prepare(
      "SELECT transactions_up_to AS transactions FROM blocks ORDER BY height DESC LIMIT 1",
    );
  }

  async transactions() {
    return this.#total.get()?.transactions ?? 0;
  }

  async forgedBy(publicKey: string) {
    return this.#slots.forgedBy(publicKey);
  }

  async missed(limit: number) {
    return this.#slots.missed(limit);
  }
}
