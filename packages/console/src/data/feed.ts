/** Follows the head of the chain with the live stream, or by polling if the stream is not allowed. */
import type { ReadonlySignal } from "@preact/signals";
import { ApiError, type Client } from "@uniknode/client";
import { createHeadState, disconnect, type HeadState, readHead } from "./head.ts";
import { createPause } from "./pause.ts";
import type { ResponseCache } from "./response-cache.ts";

export type Feed = Readable & {
  /** Polls immediately. */
  poll(): void;
  /** Marks the connection as lost until the next successful poll. */
  lose(error: unknown): void;
  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls on every message of the live stream, until the stream is refused or the signal is aborted. */
  listen(stream: Client["events"]["stream"], signal: AbortSignal): Promise<void>;
};

/** State of the head, read-only. */
type Readable = { readonly [Name in keyof HeadState]: ReadonlySignal<HeadState[Name]["value"]> };

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 4_000;
/** Maximum poll interval while the stream is open; a slot without a block is noticed after one block time. */
const STREAMING_PAUSE_MS = 15_000;
const HIDDEN_PAUSE_MS = 15_000;
const LONGEST_RETRY_MS = 15_000;

export function createFeed(api: Client, responses: ResponseCache, isHidden = () => false): Feed {
  const state = createHeadState();
  const pause = createPause();
  let isStreaming = false;

  async function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", pause.end);
    for (let failures = 0; !signal.aborted; ) {
      try {
        await readHead(api, responses, state);
        failures = 0;
        await pause.wait(isHidden() ? HIDDEN_PAUSE_MS : pollIntervalMs(state, isStreaming));
      } catch (error) {
        const waitMs = retryDelayMs(error, failures++);
        disconnect(state, error, waitMs);
        await pause.wait(waitMs);
      }
    }
  }

  async function listen(stream: Client["events"]["stream"], signal: AbortSignal): Promise<void> {
    try {
      for await (const _ of stream({ events: ["block.applied", "block.reverted"], signal })) {
        isStreaming = true;
        pause.end();
      }
    } catch {
      // Refused or signed out: polling continues.
    } finally {
      isStreaming = false;
    }
  }

  return {
    ...state,
    poll: pause.end,
    lose(error) {
      if (state.connection.peek().state !== "disconnected") disconnect(state, error, SHORTEST_PAUSE_MS);
    },
    run,
    listen,
  };
}

/** Half a block time, which bounds the delay of a block; within the rate limits of public nodes. */
function pollIntervalMs({ configuration }: HeadState, isStreaming: boolean): number {
  const blockMs = (configuration.peek()?.constants.blocktime ?? 0) * 1_000;
  if (isStreaming) return Math.min(blockMs + SHORTEST_PAUSE_MS, STREAMING_PAUSE_MS);
  return Math.min(Math.max(blockMs / 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** Backs off exponentially, and at least as long as the node requires. */
function retryDelayMs(error: unknown, failures: number): number {
  const backoffMs = Math.min(SHORTEST_PAUSE_MS * 2 ** failures, LONGEST_RETRY_MS);
  return Math.max(backoffMs, (error instanceof ApiError && error.retryAfterMs) || 0);
}
