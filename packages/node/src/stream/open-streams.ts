/**
 * Open streams: their number per client, per site and in total, clients whose conditions cost too much, and the union of the events
 * that they subscribe to.
 */
import { clientGroup, siteGroup } from "../platform/addresses.ts";
import { present } from "../platform/present.ts";
import { StreamError } from "./subscription.ts";

export type StreamLimitOptions = {
  readonly maxStreams: number;
  /** Maximum per client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly maxStreamsPerClient: number;
  /** Maximum per site: an IPv4 address, or the /48 of an IPv6 address. */
  readonly maxStreamsPerSite: number;
};

/** Counts the open streams, and refuses a stream beyond a limit. */
export class StreamLimits {
  readonly #options: StreamLimitOptions;
  readonly #clients = new Map<string, number>();
  readonly #sites = new Map<string, number>();
  #open = 0;

  constructor(options: StreamLimitOptions) {
    this.#options = options;
  }

  open(): number {
    return this.#open;
  }

  /**
   * Returns a function that releases the stream; a second call does nothing.
   *
   * @throws {StreamError} STREAM_FULL, STREAM_LIMIT
   */
  acquire(address: string): () => void {
    const [client, site] = [clientGroup(address), siteGroup(address)];
    const { maxStreams, maxStreamsPerClient, maxStreamsPerSite } = this.#options;
    if (this.#open >= maxStreams) {
      throw new StreamError("STREAM_FULL", `the limit of ${maxStreams} open streams is reached`);
    }
    checkLimit(this.#clients, client, maxStreamsPerClient);
    checkLimit(this.#sites, site, maxStreamsPerSite);
    this.#add(client, site, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#add(client, site, -1);
      isOpen = false;
    };
  }

  #add(client: string, site: string, difference: 1 | -1): void {
    add(this.#clients, client, difference);
    add(this.#sites, site, difference);
    this.#open += difference;
  }
}

/** @throws {StreamError} STREAM_LIMIT */
function checkLimit(counts: ReadonlyMap<string, number>, group: string, max: number): void {
  if ((counts.get(group) ?? 0) < max) return;
  throw new StreamError("STREAM_LIMIT", `${max} streams are already open from ${group}; close one first`);
}

function add(counts: Map<string, number>, name: string, difference: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + difference;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

/** Maximum number of suspensions; beyond it, the oldest is dropped. */
const MAX_SUSPENSIONS = 1_000;

/** Suspended clients get no stream with patterns until their suspension ends. */
export class Suspensions {
  readonly #durationMs: number;
  readonly #nowMs: () => number;
  /** End of each suspension by client, the earliest first. */
  readonly #endsMs = new Map<string, number>();

  constructor(durationMs: number, nowMs: () => number) {
    this.#durationMs = durationMs;
    this.#nowMs = nowMs;
  }

  add(address: string): void {
    const client = clientGroup(address);
    const nowMs = this.#nowMs();
    this.#endsMs.delete(client);
    this.#endsMs.set(client, nowMs + this.#durationMs);
    for (const [known, endMs] of this.#endsMs) {
      if (this.#endsMs.size <= MAX_SUSPENSIONS && endMs > nowMs) return;
      this.#endsMs.delete(known);
    }
  }

  /** @throws {StreamError} STREAM_SUSPENDED */
  check(address: string): void {
    const leftMs = (this.#endsMs.get(clientGroup(address)) ?? 0) - this.#nowMs();
    // More is left only after the clock was set back.
    if (leftMs <= 0 || leftMs > this.#durationMs) return;
    throw new StreamError(
      "STREAM_SUSPENDED",
      "the patterns of a stream from this address are too expensive; use fewer or smaller patterns, or other operators",
    );
  }
}

/** See `Gateway.streamsChanged`. */
export type StreamsChanged = (names: string[]) => Promise<Record<string, number>>;

/** The union of the names that the open streams subscribe to, which the writer records. */
export class OpenSubscriptions {
  readonly #streamsChanged: StreamsChanged;
  /** Number of streams by name. */
  readonly #counts = new Map<string, number>();

  constructor(streamsChanged: StreamsChanged) {
    this.#streamsChanged = streamsChanged;
  }

  /** Resolves to the sequence after which the log has every event of these names. */
  async add(names: readonly string[]): Promise<number> {
    for (const name of names) add(this.#counts, name, 1);
    // It is called each time, because the sequence changes after a gap in the log.
    const since = await this.#streamsChanged([...this.#counts.keys()]);
    return Math.max(...names.map((name) => present(since[name], `the sequence of ${name}`)));
  }

  /** Reverses one `add`. */
  remove(names: readonly string[]): void {
    for (const name of names) add(this.#counts, name, -1);
    // A lost call is harmless: the next call sends all names again.
    this.#streamsChanged([...this.#counts.keys()]).catch(() => {});
  }
}
