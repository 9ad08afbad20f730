/** Metrics of the HTTP listeners and of the live stream. */
import type { ConnectionFigures } from "../../http/connections/connections.ts";
import type { Server } from "../../http/core/app.ts";
import type { StreamFigures } from "../../stream/stream.ts";
import {
  type Counter,
  type Gauge,
  Histogram,
  instrumentsOf,
  type Registry,
  showTotal,
} from "./instruments.ts";

type SentResponse = {
  readonly method: string;
  /** Pattern of the route; undefined for unknown paths. */
  readonly route: string | undefined;
  readonly status: number;
  readonly seconds: number;
};

const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 8];
/** Both prefixes serve the same routes. */
const VERSION = /^\/api\/v2(?=\/|$)/;
/** Clients can send any text as a method; other methods share one label value. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

export class HttpMetrics {
  readonly #requests: Counter<"method" | "route" | "status">;
  readonly #duration: Histogram<"route">;
  readonly #open: Gauge;
  readonly #cut: Counter;
  readonly #unread: Gauge;

  constructor(registry: Registry) {
    const { gauge, counter } = instrumentsOf(registry);
    this.#requests = counter(
      "uniknode_http_requests_total",
      "Responses by method, route and status.",
      "method",
      "route",
      "status",
    );
    this.#duration = new Histogram({
      name: "uniknode_http_request_duration_seconds",
      help: "Time from a request to the end of its response, by route.",
      labelNames: ["route"],
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
    this.#open = gauge("uniknode_streams", "Open live streams.");
    this.#cut = counter(
      "uniknode_streams_cut_total",
      "Live streams closed because their clients read too slowly.",
    );
    this.#unread = gauge("uniknode_streams_unread_bytes", "Bytes buffered for the clients of live streams.");
  }

  responded({ method, route: pattern, status, seconds }: SentResponse): void {
    const route = pattern?.replace(VERSION, "/api") ?? "none";
    this.#requests.inc({ method: METHODS.has(method) ? method : "other", route, status });
    this.#duration.observe({ route }, seconds);
  }

  showStreams(figures: StreamFigures): void {
    this.#open.set(figures.open);
    showTotal(this.#cut, figures.cut);
    this.#unread.set(figures.unreadBytes);
  }
}

/** Figures by listener; undefined if there is no separate operations listener. */
export type ConnectionsOfListeners = {
  readonly api: ConnectionFigures;
  readonly operations: ConnectionFigures | undefined;
};

export function createConnectionMetrics(
  registry: Registry,
): (connections: Partial<ConnectionsOfListeners>) => void {
  const { gauge, counter } = instrumentsOf(registry);
  const open = gauge("uniknode_http_connections", "Open connections, by listener.", "listener");
  const refused = counter(
    "uniknode_http_connections_refused_total",
    "New connections refused, by listener and by the limit that was reached.",
    "listener",
    "reason",
  );
  const closed = counter(
    "uniknode_http_connections_closed_total",
    "Open connections closed by the node, by listener and reason.",
    "listener",
    "reason",
  );

  return (connections) => {
    refused.reset();
    closed.reset();
    for (const [listener, figures] of Object.entries(connections)) {
      if (!figures) continue;
      open.set({ listener }, figures.open);
      for (const [reason, count] of Object.entries(figures.refused)) refused.inc({ listener, reason }, count);
      for (const [reason, count] of Object.entries(figures.closed)) closed.inc({ listener, reason }, count);
    }
  };
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The response is a stream that the client ends: its duration is not measured. */
    isEndless?: boolean;
  }
}

/** Reports every response that was sent. Must be called before the server listens. */
export function countResponses(app: Server, onResponse: (response: SentResponse) => void): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { url, config } = request.routeOptions;
    if (!config.isEndless) {
      const route = request.is404 ? undefined : url;
      onResponse({
        method: request.method,
        route,
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1_000,
      });
    }
    done();
  });
}
