/** How many streams there are, for each client and site, and in all. */
import { clientGroup, siteGroup } from "../platform/addresses/groups.ts";
import { StreamError } from "./error.ts";

export type SeatOptions = {
  readonly maxStreams: number;
  /** Of an IPv4 address, or the /64 of an IPv6 address. */
  readonly maxStreamsPerClient: number;
  /** Of an IPv4 address, or the /48 of an IPv6 address. */
  readonly maxStreamsPerSite: number;
};

export type Seats = {
  /**
   * Answers how to give the seat back; a second call does nothing.
   *
   * @throws {StreamError} STREAM_FULL, STREAM_LIMIT
   */
  take(address: string): () => void;
  taken(): number;
};

export function createSeats({ maxStreams, maxStreamsPerClient, maxStreamsPerSite }: SeatOptions): Seats {
  const clients = new Map<string, number>();
  const sites = new Map<string, number>();
  let taken = 0;

  return {
    take(address) {
      const [client, site] = [clientGroup(address), siteGroup(address)];
      if (taken >= maxStreams) {
        throw new StreamError("STREAM_FULL", `${maxStreams} streams are open, and no more are served`);
      }
      for (const [counts, group, max] of [
        [clients, client, maxStreamsPerClient],
        [sites, site, maxStreamsPerSite],
      ] as const) {
        if ((counts.get(group) ?? 0) < max) continue;
        throw new StreamError("STREAM_LIMIT", `${max} streams are open from ${group}; close one first`);
      }
      add(clients, client, 1);
      add(sites, site, 1);
      taken++;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        add(clients, client, -1);
        add(sites, site, -1);
        taken--;
      };
    },
    taken: () => taken,
  };
}

function add(counts: Map<string, number>, group: string, difference: 1 | -1): void {
  const count = (counts.get(group) ?? 0) + difference;
  if (count > 0) counts.set(group, count);
  else counts.delete(group);
}
