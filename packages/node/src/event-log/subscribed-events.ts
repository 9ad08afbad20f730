/**
 * Names of the events that the log records, because a webhook or a live stream subscribes to them, and the selection of the events of
 * a block by these names (webhooks.md 10 point 12). The name of a stream stays subscribed for a while after its last stream was
 * closed, across restarts too, so that a client that reconnects finds what it missed. The database is written when a name is added or
 * dropped, not for each stream.
 */
import type { BlockHeader, Slots } from "@uniknode/protocol";
import { type BlockFact, eventsOfFacts } from "../events/block-events.ts";
import type { Event } from "../events/catalogue.ts";
import { present } from "../platform/present.ts";
import type { Database } from "../store/engine/database.ts";
import { createLastSequence } from "../store/events/event-log.ts";
import { CopiedEvents, RemoteNameStore, SubscribedEventStore } from "../store/events/subscribed-events.ts";

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

const LINGER_MS = 15 * 60_000;

export class SubscribedEvents {
  readonly #deps: SubscribedEventsDeps;
  readonly #streams: StreamNames;
  #webhooks: ReadonlySet<string>;
  #remote: ReadonlySet<string>;
  #names: ReadonlySet<string>;

  constructor(deps: SubscribedEventsDeps) {
    this.#deps = deps;
    this.#streams = new StreamNames(deps);
    this.#webhooks = deps.webhookNames();
    this.#remote = deps.remoteNames.all();
    this.#names = this.#union();
  }

  /** A property, because the log gets it as a function. */
  readonly names = (): ReadonlySet<string> => this.#names;

  webhooksChanged(): void {
    this.#webhooks = this.#deps.webhookNames();
    this.#names = this.#union();
  }

  /** Replaces the names that live streams subscribe to. Returns for each name the sequence after which the log has all its events. */
  streamsChanged(names: readonly string[]): Record<string, number> {
    const since = this.#streams.replace(names);
    this.#names = this.#union();
    return since;
  }

  /**
   * Replaces the names that webhooks of another database subscribe to. They stay subscribed until they are replaced,
   * across restarts too. Returns the sequence after which the log has every event of these names.
   */
  replaceRemote(names: readonly string[]): number {
    const replaced = new Set(names);
    // Mirrors repeat the same names, in case the node has another database.
    if (this.#remote.symmetricDifference(replaced).size > 0) this.#deps.remoteNames.replace([...replaced]);
    this.#remote = replaced;
    const last = this.#deps.lastSequence();
    this.#names = this.#union();
    return last;
  }

  /** Records that subscribed events were not recorded: the log is complete only from here on. */
  markGap(): void {
    this.#streams.markGap();
  }

  /** Drops names whose last stream was closed long ago. It must be called regularly. */
  dropExpired(): void {
    // While webhooks subscribe to a name, dropping it saves nothing.
    this.#streams.dropExpired(this.#webhooks);
    this.#names = this.#union();
  }

  #union(): ReadonlySet<string> {
    return new Set([...this.#webhooks, ...this.#remote, ...this.#streams.names()]);
  }
}

/** Opens the names in a database. A node and an import record the same events of a block. */
export const openSubscribedEvents = (
  database: Database,
  webhookNames: SubscribedEventsDeps["webhookNames"],
): SubscribedEvents =>
  new SubscribedEvents({
    store: new SubscribedEventStore(database),
    remoteNames: new RemoteNameStore(database, new CopiedEvents(database)),
    lastSequence: createLastSequence(database),
    webhookNames,
    elapsedMs: () => performance.now(),
  });

/** The end of the last stream of a name: time of the monotonic clock, and sequence of the newest event at this time. */
type Closed = { readonly atMs: number; readonly sequence: number };

/** The names of live streams, each with the sequence after which the log has all its events. */
class StreamNames {
  readonly #deps: SubscribedEventsDeps;
  readonly #since: Map<string, number>;
  /** Names without a stream. */
  readonly #closed = new Map<string, Closed>();

  constructor(deps: SubscribedEventsDeps) {
    this.#deps = deps;
    this.#since = deps.store.all();
    this.#close();
  }

  names(): Iterable<string> {
    return this.#since.keys();
  }

  replace(streamed: readonly string[]): Record<string, number> {
    this.#close();
    for (const name of streamed) {
      this.#closed.delete(name);
      if (!this.#since.has(name)) this.#begin(name, this.#deps.lastSequence());
    }
    return Object.fromEntries(
      streamed.map((name) => [name, present(this.#since.get(name), `the subscription of ${name}`)]),
    );
  }

  markGap(): void {
    const last = this.#deps.lastSequence();
    for (const [name, sequence] of this.#since) if (sequence !== last) this.#begin(name, last);
  }

  /** @param kept names that stay subscribed */
  dropExpired(kept: ReadonlySet<string>): void {
    const { store, elapsedMs, lastSequence, lingerMs = LINGER_MS } = this.#deps;
    for (const [name, { atMs, sequence }] of this.#closed) {
      if (elapsedMs() - atMs < lingerMs || kept.has(name)) continue;
      // A client at the end of the log could not see later that it has missed events.
      if (lastSequence() === sequence) continue;
      store.remove(name);
      this.#since.delete(name);
      this.#closed.delete(name);
    }
  }

  #close(): void {
    const closed = { atMs: this.#deps.elapsedMs(), sequence: this.#deps.lastSequence() };
    for (const name of this.#since.keys()) if (!this.#closed.has(name)) this.#closed.set(name, closed);
  }

  #begin(name: string, sequence: number): void {
    this.#since.set(name, sequence);
    this.#deps.store.set(name, sequence);
  }
}

/** A node that was offline for less than a day records everything it missed; one that starts from nothing records no past. */
const MAX_AGE_SECONDS = 86_400;

/** A node whose head is this many slots old is catching up. */
const BEHIND_SLOTS = 3;

type SelectionDeps = {
  readonly subscribedEvents: Pick<SubscribedEvents, "names" | "markGap">;
  readonly slots: Pick<Slots, "blocktime" | "unixMsOf">;
  /** Returns the network time, in seconds since the network epoch. */
  readonly now: () => number;
};

/**
 * Returns a function that selects the events that the commit of an applied block records, by the subscriptions at that moment. Facts
 * without subscribers are not even converted to JSON. Reverts do not pass here: a fact that may have been delivered is always
 * retracted.
 */
export function createSelection({ subscribedEvents, slots, now }: SelectionDeps) {
  return (facts: readonly BlockFact[], header: BlockHeader): Event[] => {
    const ageSeconds = now() - header.timestamp;
    // At the head, the age of a block does not matter.
    if (ageSeconds > MAX_AGE_SECONDS && ageSeconds >= BEHIND_SLOTS * slots.blocktime) {
      subscribedEvents.markGap();
      return [];
    }
    const names = subscribedEvents.names();
    return eventsOfFacts(
      facts.filter(({ name }) => names.has(name)),
      header,
      slots,
    );
  };
}
