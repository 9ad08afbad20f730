/** Ports that a serving process reads and writes through: on a node, SQLite and the channel to consensus. */
import type { History } from "../../event-log/history.ts";
import type { FactReader } from "../../facts/reader.ts";
import type { Feed } from "../../feed/feed.ts";
import type { NodeFigures } from "../../gateway/figures.ts";
import type { RemoteCalls } from "../../gateway/remote-calls.ts";
import type { SessionsDependencies } from "../../http/console/sessions.ts";
import type { Identity } from "../../http/core/api.ts";
import type { SlowQueryWorker } from "../../http/server/slow-queries.ts";
import type { ProcessFigures } from "../../operations/metrics/process.ts";
import type { OperatorRows } from "../../operations/operator-rows.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import type { ReadModel } from "../../read/port.ts";
import type { StreamsChanged } from "../../stream/open-subscriptions.ts";
import type { Source } from "../../stream/source.ts";
import type { DeliveryFigures } from "../../webhooks/figures.ts";
import type { HandOverRows } from "../../webhooks/hand-over/rows.ts";
import type { WebhookStorage } from "../../webhooks/webhooks.ts";

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
  /** Figures of the consensus thread for metrics. Rejects if it does not reply. */
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
  /** Error of the last write; undefined when it succeeded. */
  trouble(): string | undefined;
  /** Damage that was found. */
  damage(): string | undefined;
  /** Free bytes of the disk; undefined while unknown. */
  freeBytes(): number | undefined;
  figures(): Omit<ProcessFigures, "logLinesLost">;
};
