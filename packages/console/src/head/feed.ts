/** The head of the chain, as a page follows it: by the live stream where it may, by asking where it may not. */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import {
  ApiError,
  type Block,
  type Client,
  type NodeConfiguration,
  type SyncProgress,
} from "@uniknode/client";
import type { Answers } from "../data/answers.ts";
import { type Reorganization, reorganizationBetween, type Top } from "./chain.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "connected"; readonly progress?: SyncProgress | undefined }
  /** The last attempt failed; the next one is at `retryAtMs` of the browser's clock. */
  | { readonly state: "disconnected"; readonly retryAtMs: number; readonly error: unknown };

export type Feed = {
  readonly head: ReadonlySignal<Block | undefined>;
  /** The newest blocks, newest first. */
  readonly top: ReadonlySignal<Top>;
  readonly connection: ReadonlySignal<Connection>;
  /** The last one that happened while the page was open. */
  readonly reorganization: ReadonlySignal<Reorganization | undefined>;
  readonly configuration: ReadonlySignal<NodeConfiguration | undefined>;
  /** How far the clock of the chain is ahead of the browser's. */
  readonly clockOffsetMs: ReadonlySignal<number>;
  /** Asks at once. */
  poll(): void;
  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls at once with every message of the live stream, until it is refused or the signal is aborted. */
  listen(stream: Client["events"]["stream"], signal: AbortSignal): Promise<void>;
};

const LEAST_BLOCKS = 30;
const MOST_BLOCKS = 100;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 4_000;
/** While the stream says what happens. */
const STREAMING_PAUSE_MS = 15_000;
const LONGEST_RETRY_MS = 15_000;

export function createFeed(api: Client, answers: Answers, isHidden = () => false): Feed {
  const top = signal<Top>([]);
  const head = signal<Block>();
  const connection = signal<Connection>({ state: "connecting" });
  const reorganization = signal<Reorganization>();
  const configuration = signal<NodeConfiguration>();
  const clockOffsetMs = signal(0);
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

  async function readHead(): Promise<void> {
    configuration.value ??= (await api.node.configuration()).data;
    const { data: state } = await api.node.syncing();
    if (state.id !== head.peek()?.id) {
      const [{ data: blocks }, { data: status }] = await Promise.all([
        api.blocks.list().page({ limit: keptBlocks() }),
        api.node.status(),
      ]);
      batch(() => showTop(blocks, status.timestamp));
    }
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
      answers.forget(change.isDeep ? undefined : change.reverted.map(({ id }) => id));
    }
    const { unix, epoch } = newest.timestamp;
    clockOffsetMs.value = (unix - epoch + now) * 1_000 - Date.now();
    top.value = blocks;
    head.value = newest;
  }

  /** The round that runs, with the block before it. */
  function keptBlocks(): number {
    const size = configuration.peek()?.constants.activeDelegates ?? 0;
    return Math.min(Math.max(size + 1, LEAST_BLOCKS), MOST_BLOCKS);
  }

  /** Half a block, so that a block is shown at most that late; no public node counts that as too much. */
  function pauseMs(): number {
    if (isStreaming || isHidden()) return STREAMING_PAUSE_MS;
    const blockMs = (configuration.peek()?.constants.blocktime ?? 0) * 1_000;
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
        connection.value = { state: "disconnected", retryAtMs: Date.now() + waitMs, error };
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
      // Refused, or signed out: the head is still asked for.
    } finally {
      isStreaming = false;
    }
  }

  return { head, top, connection, reorganization, configuration, clockOffsetMs, poll, run, listen };
}
