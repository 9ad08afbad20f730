/** The parts that run in the serving thread: the API, the register of webhooks, and their deliveries. */
import type { MessagePort } from "node:worker_threads";
import { linkPath } from "../../http/console/session-routes.ts";
import { createSource } from "../../stream/source.ts";
import { createStream, DEFAULT_STREAM_OPTIONS, type Stream } from "../../stream/stream.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import { createSlices, type Slices } from "../../subscriptions/conditions/slices.ts";
import { buildAccess } from "./access.ts";
import { openContext, openData, openReader, type ServingContext } from "./context.ts";
import { buildFeed } from "./feed.ts";
import { buildHttp } from "./http.ts";
import { buildOperations } from "./operations.ts";
import { buildOperator } from "./operator.ts";
import type { ServingData } from "./thread.ts";
import { buildWebhooks } from "./webhooks.ts";

/** Opens the connections, listens and begins to deliver. */
export async function startServing(data: ServingData, gatewayPort: MessagePort) {
  const context = openContext(data, gatewayPort);
  const { closing, logger } = context;
  const stored = openData(context);
  const access = buildAccess(context);
  const { operations, observer, matching, responded } = buildOperations(context, stored, {
    sessions: access.sessions.figures,
    // Called once the thread listens.
    streams: () => stream.figures(),
    feed: () => feed?.figures(),
    slowCalls: () => http.slowCalls(),
    connections: () => http.connections(),
  });
  const slices = createSlices(matching);
  const opened = buildWebhooks(context, stored, { observer, matching, slices });
  const stream = buildStream(context, matching, slices);
  const feed = buildFeed(context);
  const operator = buildOperator(context, stored, {
    ready: operations.ready,
    streams: () => stream.figures().open,
  });
  const http = buildHttp(context, { access, opened, stream, feed, operations, operator, responded });
  const { port, operationsPort } = await http.listen();
  opened?.webhooks.notify();

  return {
    port,
    operationsPort,
    // A dev chain prints the path when it starts; on other nodes, no one would see it.
    consolePath:
      data.console === "on" && data.isDevChain
        ? linkPath(access.sessions.issueCode("until used").secret)
        : undefined,
    notify() {
      opened?.webhooks.notify();
      stream.notify();
      feed?.notify();
    },
    close: () => closing.closeAll(logger),
  };
}

function buildStream(context: ServingContext, observer: MatchingObserver, slices: Slices): Stream {
  const { closing, gateway, network } = context;
  const stream = createStream(DEFAULT_STREAM_OPTIONS, {
    source: createSource(openReader(context, "stream reader"), network),
    streamsChanged: gateway.streamsChanged,
    slices,
    observer,
    nowMs: Date.now,
  });
  closing.add("stream", stream.close);
  return stream;
}
