/** Honest client: reads a little of everything from its own addresses, well below the rate limit. */
import { request } from "node:http";
import { present } from "../../../packages/node/src/platform/present.ts";

export type Sample = { readonly path: string; readonly status: number; readonly ms: number };

export type Observed = {
  /** Returns the samples since the last call. */
  take(): Sample[];
  stop(): void;
};

export type AskOptions = {
  readonly host: string;
  readonly port: number;
  readonly paths: readonly string[];
  /** Network 127.N.0.0/16 that the addresses are from, and how many. */
  readonly network: number;
  readonly addresses: number;
  readonly intervalMs: number;
};

/** A missing response within this time counts as a refusal. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** Sends requests at a constant rate, regardless of earlier responses, each on a new connection. */
export function startAsking({ host, port, paths, network, addresses, intervalMs }: AskOptions): Observed {
  let samples: Sample[] = [];
  let count = 0;
  const timer = setInterval(() => {
    const path = present(paths[count % paths.length]);
    const from = `127.${network}.0.${1 + (count++ % addresses)}`;
    const startedMs = performance.now();
    const note = (status: number) => samples.push({ path, status, ms: performance.now() - startedMs });
    const asked = request({
      host,
      port,
      path,
      localAddress: from,
      agent: false,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    asked.once("response", (response) => {
      response.once("error", () => note(0));
      response.once("end", () => note(response.statusCode ?? 0));
      response.resume();
    });
    asked.once("error", () => note(0));
    asked.end();
  }, intervalMs);
  return {
    take() {
      const taken = samples;
      samples = [];
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}
