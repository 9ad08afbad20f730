/** Limits the open streams per client, per site, and in total. */
import { clientGroup, siteGroup } from "../platform/addresses/groups.ts";
import { StreamError } from "./error.ts";

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
