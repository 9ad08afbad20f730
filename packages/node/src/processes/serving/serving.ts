/** The parts that run in the serving thread: the API, the register of webhooks, and their deliveries. */
import { dirname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { createNetwork, createSlots } from "@uniknode/protocol";
import { REMEDY } from "../../dev-chain/folder.ts";
import { keyOfPem } from "../../facts/key-file.ts";
import { createNoteSigner, logName } from "../../facts/note.ts";
import { createFactReader } from "../../facts/reader.ts";
import { gatewayThrough } from "../../gateway/channel.ts";
import { createTimestampOf } from "../../http/answers/timestamp.ts";
import { warnOfUnnamedProxy } from "../../http/connections/proxies.ts";
import { createSessionAccess } from "../../http/console/access.ts";
import { readConsoleFiles } from "../../http/console/files.ts";
import { openSessionFile } from "../../http/console/session-file.ts";
import { linkPath } from "../../http/console/session-routes.ts";
import { createSessions } from "../../http/console/sessions.ts";
import { createDevRoutes } from "../../http/dev/routes.ts";
import { createFactRoutes } from "../../http/facts/routes.ts";
import { createHttpServer } from "../../http/server/server.ts";
import { createStreamRoutes } from "../../http/stream/routes.ts";
import { createAccess, createTokenTest } from "../../http/webhooks/access.ts";
import { createWebhookRoutes } from "../../http/webhooks/routes.ts";
import { countAnswers } from "../../operations/http/answers.ts";
import { createOperatorRoutes } from "../../operations/http/operator.ts";
import { createOperationRoutes } from "../../operations/http/routes.ts";
import { createOperationsServer } from "../../operations/http/server.ts";
import { measureDiskSpace } from "../../platform/files/disk-space.ts";
import { createClosing } from "../../platform/lifecycle/closing.ts";
import { beat, watch } from "../../platform/lifecycle/heartbeats.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/version.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { createRankingBuilder } from "../../read/sqlite/rankings/builder.ts";
import { createSqliteReadModel } from "../../read/sqlite/read-model.ts";
import { RUN_REMEDY } from "../../store/engine/data-error.ts";
import { openDatabase } from "../../store/engine/database.ts";
import { ordinaryWriteLock } from "../../store/engine/write-lock.ts";
import { loggedTrouble, watchWrites } from "../../store/engine/writes.ts";
import { createEventLog } from "../../store/events/event-log.ts";
import { createSource } from "../../stream/source.ts";
import { createStream, DEFAULT_STREAM_OPTIONS } from "../../stream/stream.ts";
import { createSlices } from "../../subscriptions/conditions/slices.ts";
import { startInspector } from "./inspector.ts";
import { createOperations } from "./operations.ts";
import { createOperator } from "./operator.ts";
import { createSlowLane } from "./slow-queries/worker-pool.ts";
import type { ServingData } from "./thread.ts";
import { openWebhooks } from "./webhooks.ts";

const RATE_LIMIT_WINDOW_MS = 60_000;
/** Time limit for reading the rows of a response in the serving thread, because all other requests wait for it. */
const READ_TIMEOUT_MS = 50;
/** Time limit in the worker for slow queries. */
const SLOW_READ_TIMEOUT_MS = 2_000;
const NO_NAMES: ReadonlySet<string> = new Set();

/** Opens the connections, listens and begins to deliver. */
export async function startServing(data: ServingData, gatewayPort: MessagePort) {
  const log = openLog(data.logLevel, data.logFormat);
  const { logger } = log;
  const closing = createClosing();
  const network = createNetwork(data.files);
  const { gateway, figures: gatewayCalls } = gatewayThrough(gatewayPort);
  closing.add("gateway", () => gatewayPort.close());

  const writes = watchWrites(data.writeState, loggedTrouble(logger, dirname(data.databasePath)));
  const database = openDatabase(data.databasePath, { writeLock: ordinaryWriteLock(data.writeLock), writes });
  closing.add("database", database.close);
  // This side only reads the log; it writes nothing but cursors.
  const eventLog = createEventLog(database, { recordedNames: () => NO_NAMES });
  closing.add("heartbeat", beat(data.heartbeats, "serving").close);
  const consensusWatch = watch(data.heartbeats, "consensus", {
    onSilent: () => logger.error({ thread: "consensus" }, "a thread does not respond"),
    onBack: (seconds) => logger.warn({ thread: "consensus", seconds }, "a thread responds again"),
  });
  closing.add("watch", consensusWatch.close);
  const sessions = createSessions({
    nowMs: Date.now,
    token: data.webhookToken,
    storage: data.isDevChain ? openSessionFile(dirname(data.databasePath), logger) : undefined,
  });
  const diskSpace = measureDiskSpace(dirname(data.databasePath));
  closing.add("disk space", diskSpace.close);
  const inspector = startInspector(
    {
      path: data.databasePath,
      files: data.files,
      remedy: data.isDevChain ? REMEDY : RUN_REMEDY,
    },
    logger,
  );
  closing.add("inspection of the database", inspector.close);
  const figuresReader = openDatabase(data.databasePath, { readonly: true });
  closing.add("figures reader", figuresReader.close);
  const { operations, observer, matching, answered, ...measuring } = createOperations({
    database: figuresReader,
    gateway,
    calls: () => ({ consensus: gatewayCalls(), slow: slowLane.figures() }),
    streams: () => stream.figures(),
    sessions: sessions.figures,
    connections: () => ({ api: server.connections(), operations: operationsServer?.connections() }),
    areWebhooksOn: data.webhooks === "on",
    consensusSilentSeconds: consensusWatch.silentSeconds,
    logLinesLost: log.lost,
    writes,
    freeBytes: diskSpace.freeBytes,
    inspections: inspector.figures,
  });
  closing.add("measuring", measuring.close);
  const slices = createSlices(matching);
  const opened = openWebhooks(data, {
    database,
    eventLog,
    network,
    gateway,
    observer,
    matching,
    slices,
    closing,
    logger,
  });
  const webhooks = opened?.webhooks;

  const streamReader = openDatabase(data.databasePath, { readonly: true });
  closing.add("stream reader", streamReader.close);
  const stream = createStream(DEFAULT_STREAM_OPTIONS, {
    source: createSource(streamReader, network),
    streamsChanged: gateway.streamsChanged,
    slices,
    observer: matching,
    nowMs: Date.now,
  });
  closing.add("stream", stream.close);

  const reader = openDatabase(data.databasePath, { readonly: true });
  closing.add("reader", reader.close);
  const factDatabase = openDatabase(data.databasePath, { readonly: true });
  closing.add("facts reader", factDatabase.close);
  const facts = createFactReader(factDatabase, network);
  const signer = createNoteSigner(logName(network.description.nethash), keyOfPem(data.checkpointKey));
  const access = createAccess({ token: data.webhookToken });
  const { legacyCallers } = data;
  const hosts = [data.host, ...(data.hosts ?? [])];
  const registerAccess =
    legacyCallers === undefined
      ? access
      : createAccess({ isLegacy: true, whitelist: [legacyCallers], hosts });
  const sessionAccess = createSessionAccess(sessions, hosts, Date.now);
  warnOfUnnamedProxy(data, logger);
  const slots = createSlots(network);
  const timestampOf = createTimestampOf(slots.unixMsOf);
  const operator = createOperator(data, {
    database: figuresReader,
    gateway,
    ready: operations.ready,
    streams: () => stream.figures().open,
    writes,
    freeBytes: diskSpace.freeBytes,
    slotTime: slots.slotTime,
    timestampOf,
    onFault: (err) => logger.error({ err }, "failed to sample metrics"),
  });
  closing.add("sampling", operator.close);
  const dev = { gateway, timestampOf, receivers: opened?.receivers, accounts: data.devAccounts };
  const ports: Record<string, number> = { "@arkecosystem/core-p2p": data.peerPort };
  const identity = {
    version: PROTOCOL_VERSION,
    genesisBlock: data.genesisBlock,
    feePolicy: data.feePolicy,
    ports,
  };
  const { databasePath, files } = data;
  const slowLane = createSlowLane({
    databasePath,
    files,
    identity,
    readTimeoutMs: SLOW_READ_TIMEOUT_MS,
    logFormat: data.logFormat,
  });
  closing.add("slow requests", slowLane.close);
  const rankings = createRankingBuilder(databasePath, (err) =>
    logger.error({ err }, "failed to build a ranking"),
  );
  closing.add("rankings", rankings.close);
  const server = createHttpServer(
    {
      host: data.host,
      port: data.port,
      ...(data.connections && { connections: data.connections }),
      maxTransactionsPerRequest: data.maxTransactionsPerRequest,
      ...(data.allowed !== undefined && { allowed: data.allowed }),
      ...(data.trustedProxies !== undefined && { trustedProxies: data.trustedProxies }),
      ...(data.rateLimit && { rateLimit: { limit: data.rateLimit, windowMs: RATE_LIMIT_WINDOW_MS } }),
    },
    {
      readModel: createSqliteReadModel(
        { readTimeoutMs: READ_TIMEOUT_MS, rankings },
        { database: reader, network },
      ),
      network,
      identity,
      slowLane,
      gateway,
      plugins: [
        ...(webhooks ? [createWebhookRoutes(registerAccess, webhooks)] : []),
        createStreamRoutes(data.eventsPublic ? undefined : access, stream),
        createFactRoutes(facts, signer),
        createDevRoutes(access, dev),
        createOperatorRoutes(access, operator),
      ],
      ...(data.hasConsole && {
        console: {
          hosts,
          node: {
            devChain: data.isDevChain,
            eventsPublic: data.eventsPublic,
            network: network.description.name,
            version: programVersion(),
          },
          readFiles: readConsoleFiles,
          sessions,
          isToken: createTokenTest(data.webhookToken),
          access,
          nowMs: Date.now,
          operations: {
            api: [
              ...(webhooks ? [createWebhookRoutes(sessionAccess, webhooks)] : []),
              createStreamRoutes(sessionAccess, stream),
              ...(data.isDevChain ? [createDevRoutes(sessionAccess, dev)] : []),
              createOperatorRoutes(sessionAccess, operator),
            ],
            health: createOperationRoutes(sessionAccess, operations),
          },
        },
      }),
      nowMs: Date.now,
      logger,
    },
  );
  closing.add("http", server.close);
  countAnswers(server.app, answered);
  const operationRoutes = createOperationRoutes(data.metricsPublic ? undefined : access, operations);
  const operationsServer =
    data.operations && createOperationsServer(data.operations, { routes: operationRoutes, logger });
  if (operationsServer) closing.add("operations", operationsServer.close);
  else server.app.register(operationRoutes);
  const { port } = await server.listen();
  const operationsAddress = await operationsServer?.listen();
  if (operationsAddress) logger.info(operationsAddress, "serving health and metrics on a separate port");
  // Known only once it listens; the register of webhooks is part of the same API.
  ports["@arkecosystem/core-api"] = port;
  if (webhooks) ports["@arkecosystem/core-webhooks"] = port;
  webhooks?.notify();

  return {
    port,
    operationsPort: operationsAddress?.port,
    // A dev chain prints the path when it starts; on other nodes, no one would see it.
    consolePath:
      data.hasConsole && data.isDevChain ? linkPath(sessions.issueCode("until used").secret) : undefined,
    notify() {
      webhooks?.notify();
      stream.notify();
    },
    close: () => closing.closeAll(logger),
  };
}
