/**
 * Suspensions of peers that claimed blocks and did not send them. A claim keeps a forger from forging, so it must not
 * be repeated for ever: each suspension lasts twice as long as the one before.
 */
import { clientGroup } from "../../platform/addresses/groups.ts";

export type SuspensionOptions = { readonly firstMs: number; readonly maxMs: number };

/** Times are milliseconds of one monotonic clock. */
export type Suspensions = {
  add(address: string, at: number): void;
  /** Returns true if an address is suspended at a time. */
  has(address: string, at: number): boolean;
  /** Forgets all suspensions of an address, since it sent what it claimed. */
  clear(address: string): void;
};

type Suspension = { readonly untilMs: number; readonly durationMs: number };

/** Maximum number of suspensions; the oldest are forgotten. */
const MAX_CLIENTS = 10_000;

export function createSuspensions({ firstMs, maxMs }: SuspensionOptions): Suspensions {
  /** Suspensions by client, the oldest first. */
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
