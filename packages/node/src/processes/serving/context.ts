/** Shared by all parts of the serving thread: network, log, the gateway to consensus, and the databases. */
import { dirname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { createNetwork, createSlots, type Network, type Slots } from "@uniknode/protocol";
import { REMEDY } from "../../dev-chain/folder.ts";
import { gatewayThrough } from "../../gateway/channel.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { createTimestampOf, type TimestampOf } from "../../http/responses/timestamp.ts";
import { type DiskSpace, measureDiskSpace } from "../../platform/files/disk-space.ts";
import { type Closing, createClosing } from "../../platform/lifecycle/closing.ts";
import { beat, watchAndLog } from "../../platform/lifecycle/heartbeats.ts";
import { type Log, openLog } from "../../platform/logging/logger.ts";
import type { CallFigures } from "../../platform/threads/open-calls.ts";
import { RUN_REMEDY } from "../../store/engine/data-error.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { ordinaryWriteLock } from "../../store/engine/write-lock.ts";
import { loggedTrouble, type Writes, watchWrites } from "../../store/engine/writes.ts";
import { createEventLog, type EventLog } from "../../store/events/event-log.ts";
import { type Inspector, startInspector } from "./inspector.ts";
import type { ServingData } from "./thread.ts";

export type ServingContext = {
  readonly data: ServingData;
  readonly network: Network;
  readonly slots: Slots;
  readonly timestampOf: TimestampOf;
  readonly gateway: Gateway;
  /** Returns the calls through the gateway. */
  readonly gatewayCalls: () => CallFigures;
  /** Seconds since the last heartbeat of the consensus thread. */
  readonly consensusSilentSeconds: () => number;
  readonly logger: Log["logger"];
  /** Returns the number of log lines that this thread lost. */
  readonly logLinesLost: Log["lost"];
  readonly closing: Closing;
};

export type OpenData = {
  /** A writable connection, and the event log on the same connection. */
  readonly database: Database;
  readonly eventLog: EventLog;
  /** A read-only connection for metrics, health and the views of operators. */
  readonly figuresReader: Database;
  readonly writes: Writes;
  readonly diskSpace: DiskSpace;
  readonly inspector: Inspector;
};

const NO_NAMES: ReadonlySet<string> = new Set();

export function openContext(data: ServingData, gatewayPort: MessagePort): ServingContext {
  const { logger, lost } = openLog(data.logLevel, data.logFormat);
  const closing = createClosing();
  const network = createNetwork(data.files);
  const slots = createSlots(network);
  const { gateway, figures } = gatewayThrough(gatewayPort);
  closing.add("gateway", () => gatewayPort.close());
  closing.add("heartbeat", beat(data.heartbeats, "serving").close);
  const consensusWatch = watchAndLog(data.heartbeats, "consensus", logger);
  closing.add("watch", consensusWatch.close);
  return {
    data,
    network,
    slots,
    timestampOf: createTimestampOf(slots.unixMsOf),
    gateway,
    gatewayCalls: figures,
    consensusSilentSeconds: consensusWatch.silentSeconds,
    logger,
    logLinesLost: lost,
    closing,
  };
}

/** Opens the database for writing and for metrics, and begins to watch disk and database file. */
export function openData(context: ServingContext): OpenData {
  const { data, closing, logger } = context;
  const { databasePath } = data;
  const folder = dirname(databasePath);

  const writes = watchWrites(data.writeState, loggedTrouble(logger, folder));
  const database = openDatabase(databasePath, {
    ...{ writeLock: ordinaryWriteLock(data.writeLock), writes, makesCheckpoints: false },
  });
  closing.add("database", database.close);
  // This side only reads the log; it writes nothing but cursors.
  const eventLog = createEventLog(database, { recordedNames: () => NO_NAMES });

  const diskSpace = measureDiskSpace(folder);
  closing.add("disk space", diskSpace.close);
  const inspector = startInspector(
    { path: databasePath, files: data.files, remedy: data.isDevChain ? REMEDY : RUN_REMEDY },
    logger,
  );
  closing.add("inspection of the database", inspector.close);
  const figuresReader = openReader(context, "figures reader");
  return { database, eventLog, figuresReader, writes, diskSpace, inspector };
}

/** Opens a read-only connection, which is closed with the thread. */
export function openReader({ data, closing }: ServingContext, name: string): Database {
  const reader = openDatabase(data.databasePath, { readonly: true });
  closing.add(name, reader.close);
  return reader;
}
