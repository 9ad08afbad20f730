/**
 * Names of the events that the log records, because a webhook or a live stream subscribes to them, and the selection of the events of
 * a block by these names (webhooks.md 10 point 12). The name of a stream stays subscribed for a while after its last stream was
 * closed, across restarts too, so that a client that reconnects finds what it missed. The database is written when a name is added or
 * dropped, not for each stream.
 */
import type { BlockHeader, Slots } from "@uniknode/protocol";
import { type BlockFact, eventsOfFacts } from "../events/block-events.ts";
import type { Event } from "../events/event.ts";
import { present } from "../platform/present.ts";
import type { RemoteNameStore, SubscribedEventStore } from "../store/events/subscribed-events.ts";

type SubscribedEventsDeps = {
  readonly store: SubscribedEventStore;
  readonly remoteNames: RemoteNameStore;
  /** Returns the sequence of the newest event in the log. */
  readonly lastSequence: () => number;
  /** Names that the webhooks in the register subscribe to at this moment. */
  readonly webhookNames: () => ReadonlySet<string>;
  /** Returns the time of a monotonic clock: a wall clock that jumps ahead would drop names that clients are about to renew. */
  readonly elapsedMs: () => number;
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
  /**
   * Replaces the names that webhooks of another database subscribe to. They stay subscribed until they are replaced,
   * across restarts too.
   *
   * @returns the sequence after which the log has every event of these names
   */
  replaceRemote(names: readonly string[]): number;
  /** Records that subscribed events were not recorded: the log is complete only from here on. */
  markGap(): void;
  /** Drops names whose last stream was closed long ago. To be called regularly. */
  dropExpired(): void;
};

const LINGER_MS = 15 * 60_000;

export function createSubscribedEvents(deps: SubscribedEventsDeps): SubscribedEvents {
  const { remoteNames, lastSequence, webhookNames } = deps;
  const streams = createStreamNames(deps);
  let webhooks = webhookNames();
  let remote = remoteNames.all();
  let names = union();

  function union(): ReadonlySet<string> {
    return new Set([...webhooks, ...remote, ...streams.names()]);
  }

  /** Returns the result of a change of the names. */
  function after<T>(result: T): T {
    names = union();
    return result;
  }

  return {
    names: () => names,
    webhooksChanged() {
      webhooks = webhookNames();
      names = union();
    },
    streamsChanged: (streamed) => after(streams.replace(streamed)),
    renew: (renewed) => after(streams.renew(renewed)),
    replaceRemote(replacing) {
      const replaced = new Set(replacing);
      // Callers repeat the same names, in case the node has another database.
      if (remote.symmetricDifference(replaced).size > 0) remoteNames.replace([...replaced]);
      remote = replaced;
      return after(lastSequence());
    },
    markGap: streams.markGap,
    // While webhooks subscribe to a name, dropping it saves nothing.
    dropExpired: () => after(streams.dropExpired(webhooks)),
  };
}

/** Names of live streams, each with the sequence after which the log has all its events. */
function createStreamNames({ store, lastSequence, elapsedMs, lingerMs = LINGER_MS }: SubscribedEventsDeps) {
  const since = store.all();
  /** Time when the last stream of a name was closed, by name. */
  const closedMs = new Map([...since.keys()].map((name) => [name, elapsedMs()]));

  function begin(name: string, sequence: number): void {
    since.set(name, sequence);
    store.set(name, sequence);
  }

  const sinceOf = (some: readonly string[]): Record<string, number> =>
    Object.fromEntries(some.map((name) => [name, present(since.get(name), `the subscription of ${name}`)]));

  return {
    names: () => since.keys(),
    replace(streamed: readonly string[]): Record<string, number> {
      for (const name of since.keys()) if (!closedMs.has(name)) closedMs.set(name, elapsedMs());
      for (const name of streamed) {
        closedMs.delete(name);
        if (!since.has(name)) begin(name, lastSequence());
      }
      return sinceOf(streamed);
    },
    renew(renewed: readonly string[]): Record<string, number> {
      for (const name of renewed) {
        // A name without this time has an open stream.
        if (!since.has(name) || closedMs.has(name)) closedMs.set(name, elapsedMs());
        if (!since.has(name)) begin(name, lastSequence());
      }
      return sinceOf(renewed);
    },
    markGap(): void {
      const last = lastSequence();
      for (const [name, sequence] of since) if (sequence !== last) begin(name, last);
    },
    dropExpired(kept: ReadonlySet<string>): void {
      for (const [name, atMs] of closedMs) {
        if (elapsedMs() - atMs < lingerMs || kept.has(name)) continue;
        store.remove(name);
        since.delete(name);
        closedMs.delete(name);
      }
    },
  };
}

/** A node that was offline for less than a day records everything it missed; one that starts from nothing records no past. */
const MAX_AGE_SECONDS = 86_400;

/** A node whose head is this many slots old is catching up. */
const BEHIND_SLOTS = 3;

type RecordingRules = {
  /** Names with at least one subscriber. */
  readonly names: ReadonlySet<string>;
  /** True if the node is behind the network; at the head the age of a block does not matter. */
  readonly isCatchingUp: boolean;
  /** Returns the network time, in seconds since the network epoch. */
  readonly now: number;
  readonly slots: Pick<Slots, "unixMsOf">;
};

/** Returns true if the events of a block are not recorded because the node catches up and the block is old. */
const isTooOld = ({ timestamp }: BlockHeader, { isCatchingUp, now }: RecordingRules): boolean =>
  isCatchingUp && now - timestamp > MAX_AGE_SECONDS;

/**
 * Returns the events that the commit of an applied block records. Facts without subscribers are not even converted to JSON.
 * Reverts do not pass here: a fact that may have been delivered is always retracted.
 */
export function recordedEvents(
  facts: readonly BlockFact[],
  header: BlockHeader,
  rules: RecordingRules,
): Event[] {
  if (isTooOld(header, rules)) return [];
  return eventsOfFacts(
    facts.filter(({ name }) => rules.names.has(name)),
    header,
    rules.slots,
  );
}

type SelectionDeps = {
  readonly subscribedEvents: Pick<SubscribedEvents, "names" | "markGap">;
  readonly slots: Pick<Slots, "blocktime" | "unixMsOf">;
  /** Returns the network time, in seconds since the network epoch. */
  readonly now: () => number;
};

/** Returns a function that selects the events by the subscriptions at that moment. */
export function createSelection({ subscribedEvents, slots, now }: SelectionDeps) {
  return (facts: readonly BlockFact[], header: BlockHeader): Event[] => {
    const rules = {
      names: subscribedEvents.names(),
      isCatchingUp: now() - header.timestamp >= BEHIND_SLOTS * slots.blocktime,
      now: now(),
      slots,
    };
    if (isTooOld(header, rules)) subscribedEvents.markGap();
    return recordedEvents(facts, header, rules);
  };
}
