/** Load from many connections at once. */
import { createRequire } from "node:module";

/** The members of a result that are used here. */
type Autocannon = (options: {
  url: string;
  connections: number;
  duration: number;
  setupClient: (client: { setRequests(requests: readonly Request[]): void }) => void;
}) => Promise<{
  requests: { average: number; total: number };
  latency: { p99: number };
  throughput: { total: number };
  non2xx: number;
  errors: number;
}>;
const autocannon = createRequire(import.meta.url)("autocannon") as Autocannon;

export type Request = {
  path: string;
  method: "GET" | "POST";
  body?: string;
  headers?: Record<string, string>;
};

export type Load = { readonly connections: number; readonly seconds: number };

export type Figures = {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly responses: number;
  /** Bytes including the headers. */
  readonly bytes: number;
  readonly failed: number;
};

/** Each connection sends its own requests from the start. */
export async function shoot(port: number, requests: readonly Request[], load: Load): Promise<Figures> {
  let clients = 0;
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: load.connections,
    duration: load.seconds,
    setupClient(client) {
      const share = Math.ceil(requests.length / load.connections);
      const first = (clients++ * share) % requests.length;
      client.setRequests(requests.slice(first, first + share));
    },
  });
  return {
    perSecond: result.requests.average,
    p99Ms: result.latency.p99,
    responses: result.requests.total,
    bytes: Math.round(result.throughput.total / Math.max(result.requests.total, 1)),
    failed: result.non2xx + result.errors,
  };
}
