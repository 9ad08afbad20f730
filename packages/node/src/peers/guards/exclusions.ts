/**
 * Exclusions of peers that claimed blocks and did not send them. A claim stops a forger from forging, so it must not
 * be repeated forever: each exclusion lasts twice as long as the previous one.
 */
import { clientGroup } from "../../platform/addresses/groups.ts";
import { setNewest } from "../../platform/bounded-entries.ts";

export type ExclusionOptions = { readonly firstMs: number; readonly maxMs: number };

/** Times are milliseconds of one monotonic clock. */
export type Exclusions = {
  add(address: string, at: number): void;
  /** Returns true if an address is excluded at a time. */
  has(address: string, at: number): boolean;
  /** Removes all exclusions of an address, because it sent the blocks that it claimed. */
  clear(address: string): void;
};

type Exclusion = { readonly untilMs: number; readonly durationMs: number };

/** Maximum number of exclusions; the oldest are forgotten. */
const MAX_CLIENTS = 10_000;

export function createExclusions({ firstMs, maxMs }: ExclusionOptions): Exclusions {
  /** Exclusions by client, the oldest first. */
  const exclusions = new Map<string, Exclusion>();

  return {
    add(address, at) {
      const client = clientGroup(address);
      const before = exclusions.get(client)?.durationMs ?? firstMs / 2;
      const durationMs = Math.min(maxMs, before * 2);
      setNewest(exclusions, client, { untilMs: at + durationMs, durationMs }, MAX_CLIENTS);
    },
    has: (address, at) => (exclusions.get(clientGroup(address))?.untilMs ?? at) > at,
    clear: (address) => void exclusions.delete(clientGroup(address)),
  };
}
