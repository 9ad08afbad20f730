/** The time of single responses, in fractions of a millisecond, over a few kept connections. */
import { closeSync, openSync, readSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Request } from "../api/load.ts";

/** Few connections: the time of a response, not that of its queue. */
const CONNECTIONS = 2;
const SECONDS = 1;
/** The median of several rounds: a pause of the machine affects one of them. */
const ROUNDS = 7;
const READ_BYTES = 1024 * 1024;

/** Times of a response in ms: half of the responses, and 99 of 100, took at most as long. */
export type Latency = { readonly medianMs: number; readonly p99Ms: number };

export type Target = { readonly port: number; readonly requests: readonly Request[] };

/**
 * Measures the time of a response of each target: the medians of several rounds, after one that is not measured. The targets take turns,
 * so that other load of the machine affects all of them.
 */
export async function latencies(targets: readonly Target[]): Promise<Latency[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const rounds: Latency[][] = targets.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, target] of targets.entries()) {
      const times = await measureRound(target, agent, round / (ROUNDS + 1));
      // A node that has run for a while has read the requested pages of the file before.
      if (round > 0) rounds[index]?.push({ medianMs: quantile(times, 0.5), p99Ms: quantile(times, 0.99) });
    }
  }
  agent.destroy();
  return rounds.map((figures) => ({
    medianMs: quantile(sorted(figures.map(({ medianMs }) => medianMs)), 0.5),
    p99Ms: quantile(sorted(figures.map(({ p99Ms }) => p99Ms)), 0.5),
  }));
}

/** Sends requests for a second, from a part of all requests on. Returns the times of the responses in ms, sorted. */
async function measureRound({ port, requests }: Target, agent: Agent, part: number): Promise<number[]> {
  let next = Math.floor(requests.length * part);
  const times: number[] = [];
  const endMs = performance.now() + SECONDS * 1_000;
  const client = async () => {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      await send(port, present(requests[next++ % requests.length]), agent);
      times.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return sorted(times);
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

const quantile = (numbers: readonly number[], part: number): number =>
  present(numbers[Math.floor(numbers.length * part)]);

/** Reads the whole file, so that the operating system has it in memory: responses do not wait for the disk. */
export function warm(path: string): void {
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(READ_BYTES);
  while (readSync(file, chunk) > 0);
  closeSync(file);
}

/** @throws {Error} for any status but 200 */
function send(port: number, { method, path, body, headers = {} }: Request, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
      response.resume();
      response.once("end", () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`${method} ${path}: ${response.statusCode}`)),
      );
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
