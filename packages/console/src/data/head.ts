/** Reads the head of the chain into signals. */
import { batch, type Signal, signal } from "@preact/signals";
import type { Block, Client, NodeConfiguration, SyncProgress } from "@uniknode/client";
import { type Reorganization, reorganizationBetween, type Top } from "./chain.ts";
import type { ResponseCache } from "./response-cache.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "connected"; readonly progress?: SyncProgress | undefined }
  /** The last attempt failed; the next attempt is at `retryAtMs` of the browser's clock. */
  | { readonly state: "disconnected"; readonly retryAtMs: number; readonly error: unknown };

export type HeadState = {
  readonly head: Signal<Block | undefined>;
  /** Newest blocks, newest first. */
  readonly top: Signal<Top>;
  readonly connection: Signal<Connection>;
  /** Last reorganization since the page was opened. */
  readonly reorganization: Signal<Reorganization | undefined>;
  readonly configuration: Signal<NodeConfiguration | undefined>;
  /** Offset of the chain's clock ahead of the browser's clock. */
  readonly clockOffsetMs: Signal<number>;
  /** Start of the last successful poll, by the browser's clock; later slots may have unknown blocks. */
  readonly readAtMs: Signal<number>;
};

const LEAST_BLOCKS = 30;
const MOST_BLOCKS = 100;

export const createHeadState = (): HeadState => ({
  head: signal(),
  top: signal([]),
  connection: signal({ state: "connecting" }),
  reorganization: signal(),
  configuration: signal(),
  clockOffsetMs: signal(0),
  readAtMs: signal(0),
});

/** @throws {ApiError} */
export async function readHead(api: Client, responses: ResponseCache, state: HeadState): Promise<void> {
  const { head, connection, configuration, readAtMs } = state;
  const startMs = Date.now();
  configuration.value ??= (await api.node.configuration()).data;
  const { data: syncing } = await api.node.syncing();
  if (syncing.id !== head.peek()?.id) {
    const [{ data: blocks }, { data: status }] = await Promise.all([
      api.blocks.list().page({ limit: keptBlocks(configuration.peek()) }),
      api.node.status(),
    ]);
    batch(() => showTop(state, responses, blocks, status.timestamp));
  }
  readAtMs.value = startMs;
  if (connection.peek().state === "disconnected") responses.retry();
  connect(state, syncing.progress);
}

export function disconnect({ connection }: HeadState, error: unknown, waitMs: number): void {
  connection.value = { state: "disconnected", retryAtMs: Date.now() + waitMs, error };
}

function connect({ connection }: HeadState, progress: SyncProgress | undefined): void {
  if (connection.peek().state !== "connected" || progress)
    connection.value = { state: "connected", progress };
  else if ("progress" in connection.peek()) connection.value = { state: "connected" };
}

function showTop(state: HeadState, responses: ResponseCache, blocks: Top, now: number): void {
  const [newest] = blocks;
  if (!newest) return;
  const change = reorganizationBetween(state.top.peek(), blocks);
  if (change) {
    state.reorganization.value = change;
    responses.forget(change.isDeep ? undefined : change.reverted.map(({ id }) => id));
  }
  const { unix, epoch } = newest.timestamp;
  state.clockOffsetMs.value = (unix - epoch + now) * 1_000 - Date.now();
  state.top.value = blocks;
  state.head.value = newest;
}

/** Number of blocks: the current round, with the block before it. */
function keptBlocks(configuration: NodeConfiguration | undefined): number {
  const size = configuration?.constants.activeDelegates ?? 0;
  return Math.min(Math.max(size + 1, LEAST_BLOCKS), MOST_BLOCKS);
}
