/** Clients whose conditions cost too much: they get no stream with patterns until their suspension ends. */
import { clientGroup } from "../platform/addresses/groups.ts";
import { StreamError } from "./error.ts";

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
