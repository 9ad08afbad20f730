/**
 * Peers that claimed blocks and did not give them. What a peer claims keeps a forger from forging, so that it must not
 * go on for ever: with each time it is left out for twice as long.
 */
import { clientGroup } from "../../platform/addresses/groups.ts";

export type DoubtsOptions = { readonly firstMs: number; readonly maxMs: number };

/** Times are milliseconds of one steady clock. */
export type Doubts = {
  add(address: string, at: number): void;
  /** Whether an address is left out at a moment. */
  has(address: string, at: number): boolean;
  /** It gave what it claimed. */
  clear(address: string): void;
};

type Doubt = { readonly untilMs: number; readonly durationMs: number };

/** The oldest ones are forgotten beyond. */
const MAX_CLIENTS = 10_000;

export function createDoubts({ firstMs, maxMs }: DoubtsOptions): Doubts {
  /** By client, the oldest first. */
  const doubts = new Map<string, Doubt>();

  return {
    add(address, at) {
      const client = clientGroup(address);
      const before = doubts.get(client)?.durationMs ?? firstMs / 2;
      const durationMs = Math.min(maxMs, before * 2);
      doubts.delete(client);
      doubts.set(client, { untilMs: at + durationMs, durationMs });
      const [oldest] = doubts.keys();
      if (doubts.size > MAX_CLIENTS) doubts.delete(oldest!);
    },
    has: (address, at) => (doubts.get(clientGroup(address))?.untilMs ?? at) > at,
    clear: (address) => void doubts.delete(clientGroup(address)),
  };
}
