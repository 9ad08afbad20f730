/** Peers that were lost are tried again for a while: a node that restarts need not wait to be heard of. */

export type Reconnect = {
  /** A peer did not answer any more. */
  lost(ip: string): void;
  close(): void;
};

const TRY_MS = 15_000;
const TRIES = 20;
/** Peers that are waited for at a time. */
const MAX_LOST = 200;

/** @param submit dials an address; answers whether it is a peer afterwards */
export function createReconnect(submit: (ip: string) => Promise<boolean>): Reconnect {
  const triesLeft = new Map<string, number>();

  async function attempt(ip: string, left: number): Promise<void> {
    if (left === 0 || (await submit(ip))) triesLeft.delete(ip);
    else triesLeft.set(ip, left - 1);
  }

  const timer = setInterval(() => {
    for (const [ip, left] of triesLeft) void attempt(ip, left);
  }, TRY_MS);

  return {
    lost(ip) {
      if (triesLeft.size < MAX_LOST) triesLeft.set(ip, TRIES);
    },
    close: () => clearInterval(timer),
  };
}
