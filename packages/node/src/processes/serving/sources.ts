/** Context of all parts of a serving process, and the ports to its data; on a node, SQLite and the channel to consensus. */
import { createNetwork, createSlots, type Network, type Slots } from "@uniknode/protocol";
import type { History } from "../../event-log/history.ts";
import type { FactReader } from "../../facts/reader.ts";
import type { Feed } from "../../feed/feed.ts";
import type { NodeFigures } from "../../gateway/figures.ts";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import type { RemoteCalls } from "../../gateway/remote-processes.ts";
import type { SessionsDependencies } from "../../http/console/sessions.ts";
import type { Identity } from "../../http/core/api.ts";
import { createTimestampOf, type TimestampOf } from "../../http/core/values.ts";
import type { SlowQueryWorker } from "../../http/server/slow-queries.ts";
import type { ProcessFigures } from "../../operations/metrics/process.ts";
import type { OperatorRows } from "../../operations/overview.ts";
import { Closing } from "../../platform/lifecycle/closing.ts";
import { type Log, openLog } from "../../platform/logging/logger.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import type { ReadModel } from "../../read/port.ts";
import type { StreamsChanged } from "../../stream/open-streams.ts";
import type { Source } from "../../stream/source.ts";
import type { DeliveryFigures } from "../../webhooks/figures.ts";
import type { HandOverRows } from "../../webhooks/hand-over/ports.ts";
import type { WebhookStorage } from "../../webhooks/webhooks.ts";
import type { ServedData } from "./served-data.ts";

/** Options, network, log, and the gateway to the node. */
export type ServingContext = {
  readonly data: ServedData;
  readonly network: Network;
  readonly slots: Slots;
  readonly timestampOf: TimestampOf;
  readonly gateway: RemoteGateway;
  /** Returns the calls through the gateway. */
  readonly gatewayCalls: () => CallFigures;
  /** Returns the seconds since the last sign of life of the node's consensus thread. */
  readonly consensusSilentSeconds: () => number;
  readonly logger: Log["logger"];
  /** Returns the number of log lines that this thread lost. */
  readonly logLinesLost: Log["lost"];
  readonly closing: Closing;
};

type Environment = Omit<ServingContext, "gateway" | "gatewayCalls" | "consensusSilentSeconds">;

/** Opens the parts that do not depend on the connection to the node. */
export function openEnvironment(data: ServedData): Environment {
  const log = openLog(data.logLevel, data.logFormat);
  const network = createNetwork(data.files);
  const slots = createSlots(network);
  const timestampOf = createTimestampOf(slots.unixMsOf);
  const logLinesLost = () => log.lost();
  return { data, network, slots, timestampOf, logger: log.logger, logLinesLost, closing: new Closing() };
}

/** Ports that a serving process reads and writes through. */
export type Sources = {
  readonly readModel: ReadModel;
  /** Opens the worker for slow queries; undefined: requests that take too long get 503. */
  readonly openSlowQueries: ((identity: Identity) => SlowQueries) | undefined;
  readonly facts: FactReader;
  readonly stream: { readonly source: Source; readonly streamsChanged: StreamsChanged };
  /** Undefined: the service is off. */
  readonly webhooks: WebhookSources | undefined;
  readonly deliveryFigures: DeliveryFigures;
  readonly operatorRows: OperatorRows;
  readonly state: DatabaseState;
  /** Resolves to the figures of the consensus thread for metrics. Rejects if it does not reply. */
  readonly nodeFigures: () => Promise<NodeFigures>;
  /** Undefined: the feed is disabled. */
  readonly feed: Feed | undefined;
  /** Undefined: other machines may not call the node. */
  readonly remoteCalls: RemoteCalls | undefined;
  /** Storage of the console's sessions; undefined: they end with the process. */
  readonly sessions: SessionsDependencies["storage"];
};

export type SlowQueries = SlowQueryWorker & { figures(): CallFigures };

export type WebhookSources = {
  /** Opens the storage, with nothing of a former one in memory. */
  readonly openStorage: () => WebhookStorage;
  /** Rows of webhooks for a hand-over. */
  readonly handOver: HandOverRows;
  readonly webhooksChanged: () => Promise<void>;
  readonly history: History;
};

/** State of the database and its disk. */
export type DatabaseState = {
  /** Returns the error of the last write; undefined when it succeeded. */
  trouble(): string | undefined;
  /** Returns the damage that was found. */
  damage(): string | undefined;
  /** Returns the free bytes of the disk; undefined while unknown. */
  freeBytes(): number | undefined;
  figures(): Omit<ProcessFigures, "logLinesLost">;
};
