/** Assembles a serving process from its sources: the API, the webhook service and the live stream. */
import { RemoteProcesses } from "../../gateway/remote-processes.ts";
import { linkPath } from "../../http/console/session-routes.ts";
import { createProveFact } from "../../proofs/assemble.ts";
import { DEFAULT_STREAM_OPTIONS, Stream } from "../../stream/stream.ts";
import { type MatchingObserver, Slices } from "../../subscriptions/conditions/slices.ts";
import { ServingHttp } from "./http.ts";
import { buildAccess } from "./listeners.ts";
import { buildOperator, ServingOperations } from "./operations.ts";
import type { ServingContext, Sources } from "./sources.ts";
import { buildWebhooks } from "./webhooks.ts";

export type ServingProcess = {
  readonly port: number;
  /** Port of health and metrics, if they have a separate listener. */
  readonly operationsPort: number | undefined;
  /** Path that signs in at the console, once; only on a dev chain with a console. */
  readonly consolePath: string | undefined;
  /** Must be called after events were logged. */
  notify(): void;
  close(): Promise<void>;
};

/**
 * Starts to listen and to deliver. Parts that the sources added to `closing` are closed after the parts of this
 * function.
 */
export async function assemble(context: ServingContext, sources: Sources): Promise<ServingProcess> {
  const { data, closing, logger } = context;
  const { feed } = sources;
  const access = buildAccess(data.webhookToken, data, sources.sessions);
  const operations = new ServingOperations(context, sources, {
    sessions: () => access.sessions.figures(),
    // It is called once the process listens.
    streams: () => stream.figures(),
    slowCalls: () => http.slowCalls(),
    connections: () => http.connections(),
    natsConnections: () => opened?.targets.natsConnections() ?? 0,
    isDelivering: () => opened?.service.isRunning() ?? false,
  });
  const { observer, matching } = operations;
  const slices = new Slices(matching);
  const proveFact = createProveFact(sources.readModel, context.network);
  const opened = buildWebhooks(context, sources.webhooks, { observer, matching, slices, proveFact });
  const stream = buildStream(context, sources.stream, { observer: matching, slices });
  const processes = new RemoteProcesses(Date.now);
  const operator = buildOperator(context, sources, {
    processes: () => processes.list(),
    ready: operations.ready,
    streams: () => stream.figures().open,
  });
  const parts = { access, opened, stream, sources, processes, operations, operator };
  const http = new ServingHttp(context, parts);
  const { port, operationsPort } = await http.listen();
  opened?.service.notify();

  return {
    port,
    operationsPort,
    // A dev chain prints the path when it starts; on other nodes, no one would see it.
    consolePath:
      data.console === "on" && data.isDevChain
        ? linkPath(access.sessions.issueCode("until used").secret)
        : undefined,
    notify() {
      opened?.service.notify();
      stream.notify();
      feed?.notify();
    },
    close: () => closing.closeAll(logger),
  };
}

function buildStream(
  { closing }: ServingContext,
  sources: Sources["stream"],
  shared: { readonly observer: MatchingObserver; readonly slices: Slices },
): Stream {
  const stream = new Stream(DEFAULT_STREAM_OPTIONS, { ...sources, ...shared, nowMs: Date.now });
  closing.add("stream", () => stream.close());
  return stream;
}
