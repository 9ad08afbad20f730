/** Actions that the node refused because the session had ended: they wait for the next sign-in, and are then repeated. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Session } from "./session.ts";

export type HeldRequests = {
  readonly count: ReadonlySignal<number>;
  /** `fetch` for requests that need a session. */
  readonly send: typeof fetch;
  /** Sends them again. */
  repeat(): void;
  /** Gives their callers the refusal. */
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
      // The time limit of the request does not count while it waits.
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
