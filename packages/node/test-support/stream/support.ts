/** Stream of a real HTTP server, over the small chain, with a log that the test writes. */

import { get, type IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { SubscribedEvents } from "../../src/event-log/subscribed-events.ts";
import type { Event } from "../../src/events/catalogue.ts";
import type { HttpOptions } from "../../src/http/server/server.ts";
import { createStreamRoutes } from "../../src/http/stream/routes.ts";
import { createAccess } from "../../src/http/webhooks/access.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import {
  CopiedEvents,
  RemoteNameStore,
  SubscribedEventStore,
} from "../../src/store/events/subscribed-events.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { SqliteSource } from "../../src/stream/sqlite/source.ts";
import { DEFAULT_STREAM_OPTIONS, Stream, type StreamOptions } from "../../src/stream/stream.ts";
import {
  type MatchingObserver,
  NO_MATCHING_OBSERVER,
  Slices,
} from "../../src/subscriptions/conditions/slices.ts";
import { chain } from "../http/chain.ts";
import { openFixture } from "../http/fixture.ts";

export const TOKEN = "a secret of the operator";
export const LINGER_MS = 60_000;

type StreamsSetup = {
  matching?: MatchingObserver;
  options?: Partial<StreamOptions>;
  http?: Partial<HttpOptions>;
  isPublic?: boolean;
  /** Id of the event log; absent in the log of an earlier version. */
  logId?: string;
  /** Settles when the node may respond. */
  responded?: () => Promise<void>;
};

export async function openStreams({
  options = {},
  http = {},
  isPublic = false,
  logId,
  responded = async () => {},
  matching = NO_MATCHING_OBSERVER,
}: StreamsSetup = {}) {
  const opened: { stream?: Stream } = {};
  const access = isPublic ? undefined : { token: TOKEN };
  const fixture = openFixture(http, {
    plugins: [
      async (app) =>
        void (await app.register(createStreamRoutes(access && createAccess(access), present(opened.stream)))),
    ],
  });
  onTestFinished(fixture.close);
  const { writer, reader } = openConnections(fixture.path);
  if (logId !== undefined) new MetaStore(writer).write("eventLog", logId);
  const clock = { nowMs: 1_000_000 };
  const eventLog = new EventLog(writer, { recordedNames: () => node.subscribedEvents.names() });
  const startNode = () => openSubscribedEvents(writer, eventLog, () => clock.nowMs);
  /** Parts that a restart creates again. */
  const node = { subscribedEvents: startNode() };
  const stream = new Stream(
    { ...DEFAULT_STREAM_OPTIONS, ...options },
    {
      source: new SqliteSource(reader, chain.network),
      async streamsChanged(names) {
        await responded();
        return node.subscribedEvents.streamsChanged(names);
      },
      slices: new Slices(matching),
      observer: matching,
      nowMs: () => clock.nowMs,
    },
  );
  opened.stream = stream;
  const { port } = await fixture.listen();

  return {
    port,
    fixture,
    stream,
    writer,
    eventLog,
    clock,
    node,
    restart() {
      node.subscribedEvents = startNode();
    },
    emit(...events: Event[]) {
      writer.transaction(() => eventLog.append(events));
      stream.notify();
    },
    listen: (query = "", headers: Record<string, string> = { authorization: TOKEN }) =>
      listen(`http://127.0.0.1:${port}/api/v2/events${query}`, headers),
  };
}

const openSubscribedEvents = (database: Database, log: EventLog, nowMs: () => number) =>
  new SubscribedEvents({
    store: new SubscribedEventStore(database),
    remoteNames: new RemoteNameStore(database, new CopiedEvents(database)),
    lastSequence: () => log.lastSequence(),
    webhookNames: () => new Set(),
    elapsedMs: nowMs,
    lingerMs: LINGER_MS,
  });

function openConnections(path: string): { writer: Database; reader: Database } {
  const writer = openDatabase(path);
  onTestFinished(writer.close);
  const reader = openDatabase(path, { readonly: true });
  onTestFinished(reader.close);
  return { writer, reader };
}

export type StreamEvent = { id: string; event: string; data: Record<string, unknown> };

/** Connection, and the bytes received on it. */
export type Listener = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Body received so far. */
  readonly text: () => string;
  readonly events: StreamEvent[];
  /** Cookie as a browser would return it. */
  readonly lastId: () => string;
  readonly isEnded: () => boolean;
  /** Stops reading from the socket. */
  pause(): void;
  close(): void;
};

/** Connects, and parses by the rules of the HTML standard. */
export async function listen(url: string, headers: Record<string, string> = {}): Promise<Listener> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on("error", reject);
  });
  onTestFinished(() => void response.destroy());
  const events: StreamEvent[] = [];
  let text = "";
  let rest = "";
  let lastId = "";
  let isEnded = false;
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = present(blocks.pop());
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line): [string, string] => {
          const [, name = "", value = ""] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
          return [name, value];
        }),
      );
      lastId = fields.get("id") ?? lastId;
      const data = fields.get("data");
      const event = fields.get("event") ?? "message";
      if (data !== undefined && event !== "stream.position")
        events.push({ id: lastId, event, data: JSON.parse(data) });
    }
  });
  response.on("error", () => {});
  response.on("close", () => {
    isEnded = true;
  });
  return {
    status: present(response.statusCode),
    headers: response.headers,
    text: () => text,
    events,
    lastId: () => lastId,
    isEnded: () => isEnded,
    pause: () => void response.pause(),
    close: () => void response.destroy(),
  };
}

export const idsOf = ({ events }: Listener) => events.map(({ data }) => data.id);

export const peerAdded = (name: string): Event => ({
  id: `peer.added:${name}`,
  name: "peer.added",
  data: { ip: name, latency: name.length },
});

const block = (name: "applied" | "reverted", height: number, blockId: string): Event => ({
  id: `block.${name}:${blockId}`,
  name: `block.${name}`,
  height,
  blockId,
  ...(name === "reverted" && { reverts: `block.applied:${blockId}` }),
  data: { id: blockId, height },
});
export const applied = (height: number, blockId = `${height}00`) => block("applied", height, blockId);
export const reverted = (height: number, blockId = `${height}00`) => block("reverted", height, blockId);

export const transfer = (height: number, sequence: number, amount: string): Event => ({
  id: `transaction.applied:${height}00:${sequence}`,
  name: "transaction.applied",
  height,
  blockId: `${height}00`,
  data: { amount },
});
