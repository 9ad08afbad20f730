/** Detects within two seconds that the node stops responding, and that it responds again. */
import type { Feed } from "./feed.ts";

/** @returns whether the node responded before the signal was aborted */
export type Probe = (signal: AbortSignal) => Promise<boolean>;

const INTERVAL_MS = 750;
const SHORTEST_TIMEOUT_MS = 900;
const FIRST_TIMEOUT_MS = 4_000;
const LONGEST_TIMEOUT_MS = 8_000;
/** A response that takes this many times longer than the last one counts as lost. */
const TOLERANCE = 4;
/** Share of the timeout that remains after a fast response. */
const DECAY = 0.7;

/** Probes the node while the page is visible, until the signal is aborted. The timeout follows the speed of the network. */
export async function watchNode(
  probe: Probe,
  feed: Pick<Feed, "lose" | "poll">,
  isHidden: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let hadResponse = true;
  let timeoutMs = FIRST_TIMEOUT_MS;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    if (isHidden()) continue;
    const startMs = performance.now();
    const hasResponse = await probe(AbortSignal.timeout(timeoutMs));
    const tookMs = performance.now() - startMs;
    const nextMs = Math.round(hasResponse ? Math.max(TOLERANCE * tookMs, DECAY * timeoutMs) : 2 * timeoutMs);
    timeoutMs = Math.min(Math.max(nextMs, SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS);
    if (!hasResponse) feed.lose(new Error("no response"));
    else if (!hadResponse) feed.poll();
    hadResponse = hasResponse;
  }
}
