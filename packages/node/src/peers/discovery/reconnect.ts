/** Dials lost peers again for a while, so that a node that restarts is found at once. */

export type Reconnect = {
  /** Adds a peer that was lost. */
  add(ip: string): void;
  close(): void;
};

const INTERVAL_MS = 15_000;
const MAX_TRIES = 20;
/** Lost peers that are dialled at a time; further ones are ignored. */
const MAX_ADDRESSES = 200;

/** @param dial dials an address; settles with whether it is a peer afterwards */
export function createReconnect(dial: (ip: string) => Promise<boolean>): Reconnect {
  const triesLeft = new Map<string, number>();

  async function attempt(ip: string, left: number): Promise<void> {
    if (left === 0 || (await dial(ip))) triesLeft.delete(ip);
    else triesLeft.set(ip, left - 1);
  }

  const timer = setInterval(() => {
    for (const [ip, left] of triesLeft) void attempt(ip, left);
  }, INTERVAL_MS);

  return {
    add(ip) {
      if (triesLeft.size < MAX_ADDRESSES) triesLeft.set(ip, MAX_TRIES);
    },
    close: () => clearInterval(timer),
  };
}
