/** Load from many connections at once. */
import { createRequire } from "node:module";
import { present } from "../../packages/node/src/platform/present.ts";

/** The members of a result that are used here. */
type Autocannon = (options: {
  url: string;
  connections: number;
  duration?: number;
  amount?: number;
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

/** Number of connections, and the time or the number of responses after which they end. */
export type Load = { readonly connections: number } & (
  | { readonly seconds: number }
  | { readonly responses: number }
);

export type Figures = {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly responses: number;
  /** Bytes including the headers. */
  readonly bytes: number;
  readonly failed: number;
};

/** Requests that each connection has sent so far: a request that is repeated gets its response from the cache of the node. */
let sent = 0;

/** Each connection sends its own requests, from where it stopped the last time. */
export async function shoot(port: number, requests: readonly Request[], load: Load): Promise<Figures> {
  const share = Math.ceil(requests.length / load.connections);
  let clients = 0;
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: load.connections,
    ...("seconds" in load ? { duration: load.seconds } : { amount: load.responses }),
    setupClient(client) {
      const first = clients++ * share + sent;
      const at = (index: number) => present(requests[(first + index) % requests.length]);
      client.setRequests(Array.from({ length: share }, (_, index) => at(index)));
    },
  });
  sent += Math.ceil(result.requests.total / load.connections);
  return {
    perSecond: result.requests.average,
    p99Ms: result.latency.p99,
    responses: result.requests.total,
    bytes: Math.round(result.throughput.total / Math.max(result.requests.total, 1)),
    failed: result.non2xx + result.errors,
  };
}
