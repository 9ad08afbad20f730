/** Context of every screen: clients, head of the chain, and cached responses. */
import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import type { Client } from "@uniknode/client";
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { HeldRequests } from "../session/held-requests.ts";
import type { Session } from "../session/session.ts";
import type { Feed } from "./feed.ts";
import type { CachedResponse, ResponseCache } from "./response-cache.ts";

export type Node = Feed & {
  readonly responses: ResponseCache;
  /** Client of the public API. */
  readonly api: Client;
  /** Client with the session instead of the webhook token; refused without a session. */
  readonly operations: Client;
  readonly session: Session;
  /** `fetch` with the key of the session, for routes below `/console`. */
  readonly withKey: typeof fetch;
  readonly heldRequests: HeldRequests;
  /** Time of the chain's clock in milliseconds since 1970; changes every second. */
  readonly nowMs: ReadonlySignal<number>;
};

export type ResponseOptions = {
  /** Lifetime of the response: until the next head (default), or for the session. */
  readonly lasts?: "head" | "session";
  /** Also refreshes in this interval while the page is visible. */
  readonly everyMs?: number;
};

export const NodeContext = createContext<Node | undefined>(undefined);

/** @throws {Error} outside the frame */
export function useNode(): Node {
  const node = useContext(NodeContext);
  if (!node) throw new Error("a screen is rendered inside of the frame");
  return node;
}

/**
 * Fetches a response, again with every new head; nothing is fetched without a key.
 *
 * @param key identifies the request with all its parameters: equal keys share one response
 */
export function useResponse<Value>(
  key: string | undefined,
  ask: () => Promise<Value>,
  { lasts = "head", everyMs }: ResponseOptions = {},
): CachedResponse<Value> {
  const { responses, head } = useNode();
  // The key identifies the request. A component changes only with a new response, not with a new head.
  useEffect(() => {
    if (key === undefined) return;
    return effect(() => {
      const version = lasts === "head" ? head.value?.id : lasts;
      void responses.revision.value;
      if (version !== undefined) untracked(() => void responses.request(key, version, ask));
    });
  }, [responses, head, key, lasts]);
  useEffect(() => {
    if (everyMs === undefined || key === undefined) return;
    const timer = setInterval(() => document.hidden || responses.refresh(key), everyMs);
    return () => clearInterval(timer);
  }, [responses, key, everyMs]);
  return key === undefined ? NOT_ASKED : responses.get<Value>(key).value;
}

const NOT_ASKED: CachedResponse<never> = { isLoading: false };

/** Clock of the chain, with one timer for the whole page. */
export function createClock(offsetMs: ReadonlySignal<number>): ReadonlySignal<number> {
  const browserMs = signal(Date.now());
  setInterval(() => {
    if (!document.hidden) browserMs.value = Date.now();
  }, 1_000);
  // Changes immediately with the offset, so that no text shows an old time after time travel.
  return computed(() => browserMs.value + offsetMs.value);
}
