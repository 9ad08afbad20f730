/** Follows an event stream while a screen shows it. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { Client, StreamedEvent } from "@uniknode/client";
import { useEffect } from "preact/hooks";
import { useNode } from "../../data/node.ts";
import type { Choice } from "./choice.ts";
import { EMPTY_TAIL, MAX_KEPT, type Tail, withEvents } from "./tail.ts";

export type TailState = {
  readonly tail: ReadonlySignal<Tail>;
  readonly isPaused: ReadonlySignal<boolean>;
  /** Reason why the stream ended; absent while it is open or reconnecting. */
  readonly error: ReadonlySignal<unknown>;
  setPaused(isPaused: boolean): void;
  clear(): void;
  retry(): void;
};

/** Delay for batching, because a block can cause hundreds of events. */
const SHOW_EVERY_MS = 200;

/** @param key identifies the filters */
export function useTail(key: string, choice: Choice): TailState {
  const { operations, api, session } = useNode();
  const tail = useSignal<Tail>(EMPTY_TAIL);
  const isPaused = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const attempt = useSignal(0);
  const isSignedIn = session.state.value?.signedIn;
  const isLost = session.isLost.value;

  useEffect(() => {
    // Received events stay visible until the next sign-in.
    if (isLost) return;
    tail.value = EMPTY_TAIL;
    error.value = undefined;
    // Without a sign-in, the stream is public.
    return follow((isSignedIn ? operations : api).events.stream, choice, {
      show: (events) => {
        tail.value = withEvents(tail.peek(), events, Date.now(), isPaused.peek());
      },
      fail: (failure) => {
        error.value = failure;
      },
    });
  }, [key, isSignedIn, isLost, attempt.value]);

  return {
    tail,
    isPaused,
    error,
    setPaused(value) {
      isPaused.value = value;
      if (!value) tail.value = withEvents(tail.peek(), [], Date.now(), false);
    },
    clear() {
      tail.value = { ...EMPTY_TAIL, count: tail.peek().count };
    },
    retry: () => {
      attempt.value++;
    },
  };
}

type Listener = {
  show(events: readonly StreamedEvent[]): void;
  /** Called if the stream ends with an error. */
  fail(error: unknown): void;
};

/**
 * Passes the events of a stream on in batches.
 *
 * @returns ends the stream
 */
function follow(stream: Client["events"]["stream"], choice: Choice, listener: Listener): () => void {
  const ended = new AbortController();
  let came: StreamedEvent[] = [];
  const timer = setInterval(show, SHOW_EVERY_MS);

  function show(): void {
    if (came.length === 0) return;
    listener.show(came);
    came = [];
  }

  async function listen(): Promise<void> {
    try {
      for await (const event of stream({ ...choice, signal: ended.signal })) {
        came.push(event);
        if (came.length === MAX_KEPT) show();
      }
    } catch (failure) {
      if (!ended.signal.aborted) listener.fail(failure);
    }
  }

  void listen();
  return () => {
    clearInterval(timer);
    ended.abort();
  };
}
