/**
 * Peers that claimed blocks and did not give them. What a peer claims keeps a forger from forging, so that it must not
 * go on for ever: with each time it is left out for twice as long.
 */
import { clientGroup } from "../../platform/addresses/groups.ts";

export type SuspensionOptions = { readonly firstMs: number; readonly maxMs: number };

/** Times are milliseconds of one steady clock. */
export type Suspensions = {
  add(address: string, at: number): void;
  /** Whether an address is left out at a moment. */
  has(address: string, at: number): boolean;
  /** It gave what it claimed. */
  clear(address: string): void;
};

type Suspension = { readonly untilMs: number; readonly durationMs: number };

/** The oldest ones are forgotten beyond. */
const MAX_CLIENTS = 10_000;

export function createSuspensions({ firstMs, maxMs }: SuspensionOptions): Suspensions {
  /** By client, the oldest first. */
  const suspensions = new Map<string, Suspension>();

  return {
    add(address, at) {
      const client = clientGroup(address);
      const before = suspensions.get(client)?.durationMs ?? firstMs / 2;
      const durationMs = Math.min(maxMs, before * 2);
      suspensions.delete(client);
      suspensions.set(client, { untilMs: at + durationMs, durationMs });
      const [oldest] = suspensions.keys();
      if (suspensions.size > MAX_CLIENTS) suspensions.delete(oldest!);
    },
    has: (address, at) => (suspensions.get(clientGroup(address))?.untilMs ?? at) > at,
    clear: (address) => void suspensions.delete(clientGroup(address)),
  };
}
