/** Detects that the node stops responding, and that it responds again: at once if it refuses connections, within four seconds if it hangs. */
import type { Feed } from "./feed.ts";

/** @returns whether the node responded before the signal was aborted */
export type Probe = (signal: AbortSignal) => Promise<boolean>;

const INTERVAL_MS = 500;
/** Twice the latency of a slow network, which may begin after the page is loaded. */
const SHORTEST_TIMEOUT_MS = 3_000;
const LONGEST_TIMEOUT_MS = 8_000;
/** A response that takes this many times longer than the slowest of the last ones counts as lost. */
const TOLERANCE = 1.5;
/** Responses after which a slow one is forgotten. */
const REMEMBERED = 5;

/**
 * Probes the node while the page is visible, until the signal is aborted. The timeout follows the speed of the network and of the
 * node.
 *
 * @param firstMs time of an earlier response of the node
 */
export async function watchNode(
  probe: Probe,
  feed: Pick<Feed, "lose" | "poll">,
  isHidden: () => boolean,
  signal: AbortSignal,
  firstMs = 0,
): Promise<void> {
  let hadResponse = true;
  let durationsMs = [firstMs];
  let timeoutMs = timeoutFor(durationsMs);
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    if (isHidden()) continue;
    const startMs = performance.now();
    const hasResponse = await probe(AbortSignal.timeout(timeoutMs));
    if (hasResponse) durationsMs = [...durationsMs, performance.now() - startMs].slice(-REMEMBERED);
    // A node that was lost may respond slowly at first.
    timeoutMs = hasResponse ? timeoutFor(durationsMs) : Math.min(2 * timeoutMs, LONGEST_TIMEOUT_MS);
    if (!hasResponse) feed.lose(new Error("no response"));
    else if (!hadResponse) feed.poll();
    hadResponse = hasResponse;
  }
}

function timeoutFor(durationsMs: readonly number[]): number {
  const expectedMs = Math.round(TOLERANCE * Math.max(...durationsMs));
  return Math.min(Math.max(expectedMs, SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS);
}

/** Time that the node needed to respond to the request for this page. */
export function pageResponseMs(): number {
  const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return page ? page.responseStart - page.requestStart : 0;
}
