/** Holds actions that failed because the session had ended, and repeats them after the next sign-in. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Session } from "./session.ts";

export type HeldRequests = {
  readonly count: ReadonlySignal<number>;
  /** `fetch` for requests that require a session. */
  readonly send: typeof fetch;
  /** Sends the held requests again. */
  repeat(): void;
  /** Returns the refusals to the callers. */
  drop(): void;
};

type Held = { repeat(): void; drop(): void };

const UNAUTHORIZED = 401;

export function holdRequests(
  makeRequest: typeof fetch,
  session: Pick<Session, "read" | "isLost">,
): HeldRequests {
  const held = signal<readonly Held[]>([]);
  const count = computed(() => held.value.length);

  const send: typeof fetch = async (input, init = {}) => {
    const response = await makeRequest(input, init);
    if (response.status !== UNAUTHORIZED) return response;
    await session.read();
    if (!session.isLost.peek() || (init.method ?? "GET") === "GET") return response;
    return new Promise((resolve) => {
      // The timeout of the request is paused while it is held.
      const repeat = () => resolve(send(input, { ...init, signal: null }));
      held.value = [...held.peek(), { repeat, drop: () => resolve(response) }];
    });
  };

  const end = (outcome: keyof Held) => () => {
    const ended = held.peek();
    held.value = [];
    for (const request of ended) request[outcome]();
  };

  return { count, send, repeat: end("repeat"), drop: end("drop") };
}
