/** Follows the head of the chain with the live stream, or by polling if the stream is not allowed. */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import {
  ApiError,
  type Block,
  type Client,
  type NodeConfiguration,
  type SyncProgress,
} from "@uniknode/client";
import { type Reorganization, reorganizationBetween, type Top } from "./chain.ts";
import type { ResponseCache } from "./response-cache.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "connected"; readonly progress?: SyncProgress | undefined }
  /** The last attempt failed; the next attempt is at `retryAtMs` of the browser's clock. */
  | { readonly state: "disconnected"; readonly retryAtMs: number; readonly error: unknown };

export type Feed = {
  readonly head: ReadonlySignal<Block | undefined>;
  /** Newest blocks, newest first. */
  readonly top: ReadonlySignal<Top>;
  readonly connection: ReadonlySignal<Connection>;
  /** Last reorganization since the page was opened. */
  readonly reorganization: ReadonlySignal<Reorganization | undefined>;
  readonly configuration: ReadonlySignal<NodeConfiguration | undefined>;
  /** Offset of the chain's clock ahead of the browser's clock. */
  readonly clockOffsetMs: ReadonlySignal<number>;
  /** Start of the last successful poll, by the browser's clock; later slots may have unknown blocks. */
  readonly readAtMs: ReadonlySignal<number>;
  /** Polls immediately. */
  poll(): void;
  /** Marks the connection as lost until the next successful poll. */
  lose(error: unknown): void;
  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls on every message of the live stream, until the stream is refused or the signal is aborted. */
  listen(stream: Client["events"]["stream"], signal: AbortSignal): Promise<void>;
};

const LEAST_BLOCKS = 30;
const MOST_BLOCKS = 100;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 4_000;
/** Maximum poll interval while the stream is open; a slot without a block is noticed after one block time. */
const STREAMING_PAUSE_MS = 15_000;
const HIDDEN_PAUSE_MS = 15_000;
const LONGEST_RETRY_MS = 15_000;

export function createFeed(api: Client, responses: ResponseCache, isHidden = () => false): Feed {
  const top = signal<Top>([]);
  const head = signal<Block>();
  const connection = signal<Connection>({ state: "connecting" });
  const reorganization = signal<Reorganization>();
  const configuration = signal<NodeConfiguration>();
  const clockOffsetMs = signal(0);
  const readAtMs = signal(0);
  let isStreaming = false;
  let isDue = false;
  let wake = () => {};

  function poll(): void {
    isDue = true;
    wake();
  }

  async function pause(timeMs: number): Promise<void> {
    if (!isDue) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    isDue = false;
  }

  function lose(error: unknown): void {
    if (connection.peek().state !== "disconnected") disconnect(error, SHORTEST_PAUSE_MS);
  }

  function disconnect(error: unknown, waitMs: number): void {
    connection.value = { state: "disconnected", retryAtMs: Date.now() + waitMs, error };
  }

  async function readHead(): Promise<void> {
    const startMs = Date.now();
    configuration.value ??= (await api.node.configuration()).data;
    const { data: state } = await api.node.syncing();
    if (state.id !== head.peek()?.id) {
      const [{ data: blocks }, { data: status }] = await Promise.all([
        api.blocks.list().page({ limit: keptBlocks() }),
        api.node.status(),
      ]);
      batch(() => showTop(blocks, status.timestamp));
    }
    readAtMs.value = startMs;
    if (connection.peek().state === "disconnected") responses.retry();
    const { progress } = state;
    if (connection.peek().state !== "connected" || progress)
      connection.value = { state: "connected", progress };
    else if ("progress" in connection.peek()) connection.value = { state: "connected" };
  }

  function showTop(blocks: Top, now: number): void {
    const [newest] = blocks;
    if (!newest) return;
    const change = reorganizationBetween(top.peek(), blocks);
    if (change) {
      reorganization.value = change;
      responses.forget(change.isDeep ? undefined : change.reverted.map(({ id }) => id));
    }
    const { unix, epoch } = newest.timestamp;
    clockOffsetMs.value = (unix - epoch + now) * 1_000 - Date.now();
    top.value = blocks;
    head.value = newest;
  }

  /** Number of blocks: the current round, with the block before it. */
  function keptBlocks(): number {
    const size = configuration.peek()?.constants.activeDelegates ?? 0;
    return Math.min(Math.max(size + 1, LEAST_BLOCKS), MOST_BLOCKS);
  }

  /** Half a block time, which bounds the delay of a block; within the rate limits of public nodes. */
  function pauseMs(): number {
    if (isHidden()) return HIDDEN_PAUSE_MS;
    const blockMs = (configuration.peek()?.constants.blocktime ?? 0) * 1_000;
    if (isStreaming) return Math.min(blockMs + SHORTEST_PAUSE_MS, STREAMING_PAUSE_MS);
    return Math.min(Math.max(blockMs / 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  }

  async function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", poll);
    for (let failures = 0; !signal.aborted; ) {
      try {
        await readHead();
        failures = 0;
        await pause(pauseMs());
      } catch (error) {
        const backoffMs = Math.min(SHORTEST_PAUSE_MS * 2 ** failures++, LONGEST_RETRY_MS);
        const waitMs = Math.max(backoffMs, (error instanceof ApiError && error.retryAfterMs) || 0);
        disconnect(error, waitMs);
        await pause(waitMs);
      }
    }
  }

  async function listen(stream: Client["events"]["stream"], signal: AbortSignal): Promise<void> {
    try {
      for await (const _ of stream({ events: ["block.applied", "block.reverted"], signal })) {
        isStreaming = true;
        poll();
      }
    } catch {
      // Refused or signed out: polling continues.
    } finally {
      isStreaming = false;
    }
  }

  return {
    head,
    top,
    connection,
    reorganization,
    configuration,
    clockOffsetMs,
    readAtMs,
    poll,
    lose,
    run,
    listen,
  };
}
