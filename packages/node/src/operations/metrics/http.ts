/** Metrics of the HTTP server and the live stream. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { StreamFigures } from "../../stream/stream.ts";
import { showTotal } from "./total.ts";

export type Answered = {
  readonly method: string;
  /** Pattern of the path; absent for paths that lead nowhere. */
  readonly route: string | undefined;
  readonly status: number;
  readonly seconds: number;
};

export type HttpMetrics = {
  answered(answered: Answered): void;
  showStreams(figures: StreamFigures): void;
};

const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 8];
/** Both prefixes lead to the same. */
const VERSION = /^\/api\/v2(?=\/|$)/;
/** Any text may come as a method. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "uniknode_http_requests_total",
    help: "Answers by method, route and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const duration = new Histogram({
    name: "uniknode_http_request_duration_seconds",
    help: "Time from a request to the end of its answer, by route.",
    labelNames: ["route"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const open = new Gauge({ name: "uniknode_streams", help: "Live streams that are open.", registers });
  const cut = new Counter({
    name: "uniknode_streams_cut_total",
    help: "Live streams that were cut because their readers did not read.",
    registers,
  });
  const unread = new Gauge({
    name: "uniknode_streams_unread_bytes",
    help: "What waits in the process for the readers of live streams.",
    registers,
  });

  return {
    answered({ method, route: pattern, status, seconds }) {
      const route = pattern?.replace(VERSION, "/api") ?? "none";
      requests.inc({ method: METHODS.has(method) ? method : "other", route, status });
      duration.observe({ route }, seconds);
    },
    showStreams(figures) {
      open.set(figures.open);
      showTotal(cut, figures.cut);
      unread.set(figures.unreadBytes);
    },
  };
}
