/** The time of single responses, in fractions of a millisecond, over a few kept connections. */
import { Agent, request as httpRequest } from "node:http";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Request } from "../api/load.ts";

/** Few connections: the time of a response, not that of its queue. */
const CONNECTIONS = 2;
const SECONDS = 1;
/** The median of several rounds: a pause of the machine affects one of them. */
const ROUNDS = 5;
const PERCENTILE = 0.99;

/** Returns the 99th percentile of the time of a response, in ms: the median of several rounds, after one that is not measured. */
export async function percentile(port: number, requests: readonly Request[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
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
    times.sort((a, b) => a - b);
    // A node that has run for a while has read the requested pages of the file before.
    if (round > 0) rounds.push(present(times[Math.floor(times.length * PERCENTILE)]));
  }
  agent.destroy();
  rounds.sort((a, b) => a - b);
  return present(rounds[Math.floor(ROUNDS / 2)]);
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
