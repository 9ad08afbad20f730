/** Clients that have recently pipelined too many requests and temporarily get no new connection. */

export type Offenders = {
  /** @param group group of the client's addresses (`addresses/groups.ts`) */
  add(group: string): void;
  has(group: string): boolean;
};

/** Time for which an offender gets no new connection. */
const OFFENCE_MS = 10_000;
const MAX_OFFENDERS = 10_000;

export function createOffenders(): Offenders {
  /** Monotonic time of the offence, by group; oldest first. */
  const offences = new Map<string, number>();
  return {
    add(group) {
      // A known key would keep its position before entries that end earlier.
      offences.delete(group);
      offences.set(group, performance.now());
    },
    has(group) {
      for (const [oldest, sinceMs] of offences) {
        if (performance.now() - sinceMs < OFFENCE_MS && offences.size <= MAX_OFFENDERS) break;
        offences.delete(oldest);
      }
      return offences.has(group);
    },
  };
}
