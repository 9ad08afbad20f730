/** Concurrency slots for request bodies: a total number, of which one client can have a share. */
import { clientGroup } from "../platform/addresses/groups.ts";

export type BodySlotBounds = { readonly total: number; readonly perClient: number };

export type BodySlots = {
  /** Takes a slot for a client's address, and returns a function that releases it. Undefined if none is free. */
  take(address: string): (() => void) | undefined;
};

export function createBodySlots({ total, perClient }: BodySlotBounds): BodySlots {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(address) {
      const client = clientGroup(address);
      const own = taken.get(client) ?? 0;
      if (all >= total || own >= perClient) return undefined;
      all += 1;
      taken.set(client, own + 1);
      return () => {
        all -= 1;
        const left = (taken.get(client) ?? 0) - 1;
        if (left > 0) taken.set(client, left);
        else taken.delete(client);
      };
    },
  };
}
