/**
 * Open streams: their number per client, per site and in total, clients whose conditions cost too much, and the union of the events
 * that they subscribe to.
 */
import { clientGroup, siteGroup } from "../platform/addresses/groups.ts";
import { present } from "../platform/present.ts";
import { StreamError } from "./stream-error.ts";

export type StreamLimitOptions = {
  readonly maxStreams: number;
  /** Maximum per client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly maxStreamsPerClient: number;
  /** Maximum per site: an IPv4 address, or the /48 of an IPv6 address. */
  readonly maxStreamsPerSite: number;
};

export type StreamLimits = {
  /**
   * Returns a function that releases the stream; a second call does nothing.
   *
   * @throws {StreamError} STREAM_FULL, STREAM_LIMIT
   */
  acquire(address: string): () => void;
  open(): number;
};

export function createStreamLimits({
  maxStreams,
  maxStreamsPerClient,
  maxStreamsPerSite,
}: StreamLimitOptions): StreamLimits {
  const clients = new Map<string, number>();
  const sites = new Map<string, number>();
  let open = 0;

  return {
    acquire(address) {
      const [client, site] = [clientGroup(address), siteGroup(address)];
      if (open >= maxStreams) {
        throw new StreamError("STREAM_FULL", `the limit of ${maxStreams} open streams is reached`);
      }
      for (const [counts, group, max] of [
        [clients, client, maxStreamsPerClient],
        [sites, site, maxStreamsPerSite],
      ] as const) {
        if ((counts.get(group) ?? 0) < max) continue;
        throw new StreamError(
          "STREAM_LIMIT",
          `${max} streams are already open from ${group}; close one first`,
        );
      }
      add(clients, client, 1);
      add(sites, site, 1);
      open++;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        add(clients, client, -1);
        add(sites, site, -1);
        open--;
      };
    },
    open: () => open,
  };
}

function add(counts: Map<string, number>, group: string, difference: 1 | -1): void {
  const count = (counts.get(group) ?? 0) + difference;
  if (count > 0) counts.set(group, count);
  else counts.delete(group);
}

/** Suspended clients get no stream with patterns until their suspension ends. */
export type Suspensions = {
  add(address: string): void;
  /** @throws {StreamError} STREAM_SUSPENDED */
  check(address: string): void;
};

/** Maximum number of suspensions; beyond it, the oldest is dropped. */
const MAX_SUSPENSIONS = 1_000;

export function createSuspensions(durationMs: number, nowMs: () => number): Suspensions {
  /** End of each suspension by client, the earliest first. */
  const endsMs = new Map<string, number>();

  return {
    add(address) {
      const client = clientGroup(address);
      endsMs.delete(client);
      endsMs.set(client, nowMs() + durationMs);
      for (const [known, endMs] of endsMs) {
        if (endsMs.size <= MAX_SUSPENSIONS && endMs > nowMs()) return;
        endsMs.delete(known);
      }
    },
    check(address) {
      if ((endsMs.get(clientGroup(address)) ?? 0) <= nowMs()) return;
      throw new StreamError(
        "STREAM_SUSPENDED",
        "the patterns of a stream from this address are too expensive; use fewer or smaller patterns, or other operators",
      );
    },
  };
}

export type OpenSubscriptions = {
  /** Resolves to the sequence after which the log has every event of these names. */
  add(names: readonly string[]): Promise<number>;
  /** Reverses one `add`. */
  remove(names: readonly string[]): void;
};

/** See `Gateway.streamsChanged`. */
export type StreamsChanged = (names: string[]) => Promise<Record<string, number>>;

export function createOpenSubscriptions(streamsChanged: StreamsChanged): OpenSubscriptions {
  /** Number of streams by name. */
  const counts = new Map<string, number>();

  return {
    async add(names) {
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
      // Called each time, because the sequence changes after a gap in the log.
      const since = await streamsChanged([...counts.keys()]);
      return Math.max(...names.map((name) => present(since[name], `the sequence of ${name}`)));
    },
    remove(names) {
      for (const name of names) {
        const left = (counts.get(name) ?? 0) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      }
      // A lost call is harmless: the next call sends all names again.
      streamsChanged([...counts.keys()]).catch(() => {});
    },
  };
}
