/**
 * Names of the events that the log records, because a webhook or a live stream subscribes to them. A name stays
 * subscribed for a while after its last stream was closed, across restarts too, so that a client that reconnects finds
 * what it missed. The database is written when a name is added or dropped, not for each stream.
 */
import { present } from "../platform/present.ts";
import type { SubscribedEventStore } from "../store/events/subscribed-events.ts";

export type SubscribedEventsDeps = {
  readonly store: SubscribedEventStore;
  /** Sequence of the newest event in the log. */
  readonly lastSequence: () => number;
  /** Names that the webhooks in the register subscribe to at this moment. */
  readonly webhookNames: () => ReadonlySet<string>;
  readonly nowMs: () => number;
  /** Time for which a name stays subscribed after its last stream was closed. */
  readonly lingerMs?: number;
};

export type SubscribedEvents = {
  names(): ReadonlySet<string>;
  webhooksChanged(): void;
  /**
   * Replaces the names that live streams subscribe to.
   *
   * @returns for each name the sequence after which the log has every event of that name
   */
  streamsChanged(names: readonly string[]): Record<string, number>;
  /**
   * Subscribes to names as a stream that is closed at once: they stay subscribed for a while, and must be renewed within that
   * time. Streams and webhooks of other machines subscribe in this way.
   *
   * @returns the same as `streamsChanged`
   */
  renew(names: readonly string[]): Record<string, number>;
  /** Subscribed events were not recorded: the log is complete only from here on. */
  markGap(): void;
  /** Drops names whose last stream was closed long ago. To be called regularly. */
  dropExpired(): void;
};

const LINGER_MS = 15 * 60_000;

export function createSubscribedEvents(deps: SubscribedEventsDeps): SubscribedEvents {
  const { store, lastSequence, webhookNames, nowMs, lingerMs = LINGER_MS } = deps;
  const since = store.all();
  /** Time when the last stream of a name was closed, by name. */
  const closedMs = new Map([...since.keys()].map((name) => [name, nowMs()]));
  let webhooks = webhookNames();
  let names = union();

  function union(): ReadonlySet<string> {
    return new Set([...webhooks, ...since.keys()]);
  }

  function begin(name: string, sequence: number): void {
    since.set(name, sequence);
    store.set(name, sequence);
  }

  const sinceOf = (some: readonly string[]): Record<string, number> =>
    Object.fromEntries(some.map((name) => [name, present(since.get(name), `the subscription of ${name}`)]));

  return {
    names: () => names,
    webhooksChanged() {
      webhooks = webhookNames();
      names = union();
    },
    streamsChanged(streamed) {
      for (const name of since.keys()) if (!closedMs.has(name)) closedMs.set(name, nowMs());
      for (const name of streamed) {
        closedMs.delete(name);
        if (!since.has(name)) begin(name, lastSequence());
      }
      names = union();
      return sinceOf(streamed);
    },
    renew(renewed) {
      for (const name of renewed) {
        // A name without this time has an open stream.
        if (!since.has(name) || closedMs.has(name)) closedMs.set(name, nowMs());
        if (!since.has(name)) begin(name, lastSequence());
      }
      names = union();
      return sinceOf(renewed);
    },
    markGap() {
      const last = lastSequence();
      for (const [name, sequence] of since) if (sequence !== last) begin(name, last);
    },
    dropExpired() {
      for (const [name, atMs] of closedMs) {
        // While webhooks subscribe to the name, dropping it saves nothing.
        if (nowMs() - atMs < lingerMs || webhooks.has(name)) continue;
        store.remove(name);
        since.delete(name);
        closedMs.delete(name);
      }
      names = union();
    },
  };
}
