/** What every screen stands on: the clients, the head of the chain, and the answers that were asked for. */
import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import type { Client } from "@uniknode/client";
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { HeldRequests } from "../session/held-requests.ts";
import type { Session } from "../session/session.ts";
import type { Answer, Answers } from "./answers.ts";
import type { Feed } from "./feed.ts";

export type Node = Feed & {
  readonly answers: Answers;
  /** The public API. */
  readonly api: Client;
  /** The same and what needs the webhook token, with the session in its place; refused without a session. */
  readonly operations: Client;
  readonly session: Session;
  /** `fetch` with the key of the session, for routes below `/console`. */
  readonly withKey: typeof fetch;
  readonly heldRequests: HeldRequests;
  /** By the clock of the chain, milliseconds since 1970; changes every second. */
  readonly nowMs: ReadonlySignal<number>;
};

export type AnswerOptions = {
  /** Whether the answer depends on the head. `session`: it is asked for once. Default: `head`. */
  readonly lasts?: "head" | "session";
  /** Asks also in this interval, while the page is visible. */
  readonly everyMs?: number;
};

export const NodeContext = createContext<Node | undefined>(undefined);

/** @throws {Error} outside of the frame */
export function useNode(): Node {
  const node = useContext(NodeContext);
  if (!node) throw new Error("a screen is rendered inside of the frame");
  return node;
}

/**
 * An answer of the node, asked for again with every new head; nothing is asked without a key.
 *
 * @param key names the request with all its parameters: equal keys share one answer
 */
export function useAnswer<Value>(
  key: string | undefined,
  ask: () => Promise<Value>,
  { lasts = "head", everyMs }: AnswerOptions = {},
): Answer<Value> {
  const { answers, head } = useNode();
  // The key stands for what is asked. A new head changes nothing in a component before it has brought a new answer.
  useEffect(() => {
    if (key === undefined) return;
    return effect(() => {
      const version = lasts === "head" ? head.value?.id : lasts;
      void answers.revision.value;
      if (version !== undefined) untracked(() => void answers.request(key, version, ask));
    });
  }, [answers, head, key, lasts]);
  useEffect(() => {
    if (everyMs === undefined || key === undefined) return;
    const timer = setInterval(() => document.hidden || answers.refresh(key), everyMs);
    return () => clearInterval(timer);
  }, [answers, key, everyMs]);
  return key === undefined ? NOT_ASKED : answers.answerOf<Value>(key).value;
}

const NOT_ASKED: Answer<never> = { isLoading: false };

/** The clock of the chain; one timer for the whole page. */
export function createClock(offsetMs: ReadonlySignal<number>): ReadonlySignal<number> {
  const browserMs = signal(Date.now());
  setInterval(() => {
    if (!document.hidden) browserMs.value = Date.now();
  }, 1_000);
  // Changes with the offset at once: after time travel no text shows a time of the clock before.
  return computed(() => browserMs.value + offsetMs.value);
}
