/** A client that reads the head again and again, and records what it received. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, createClient } from "@uniknode/client";

export type Watcher = {
  /** Heights of the successful responses, in their order. */
  readonly heights: number[];
  /** Codes of the other responses since the last call. */
  failures(): string[];
  stop(): Promise<void>;
};

const PAUSE_MS = 10;

export function watchHead(url: string): Watcher {
  const client = createClient({ url, retries: 0, timeoutMs: 15_000 });
  const stopping = new AbortController();
  const heights: number[] = [];
  let failures = new Set<string>();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await client.blockchain.get().then(
        ({ data }) => heights.push(data.block.height),
        ({ nodeCode, code }: ApiError) => failures.add(nodeCode ?? code),
      );
      await sleep(PAUSE_MS);
    }
  }
  const running = run();
  return {
    heights,
    failures() {
      const found = [...failures].sort();
      failures = new Set();
      return found;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
