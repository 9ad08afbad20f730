/** Continues a copy of the event log when the node does not have the next event. */
import { MirrorError } from "../error.ts";
import type { CopyDeps } from "./deps.ts";
import { type CopyState, markGap } from "./rows.ts";

/**
 * Records the gap, and moves the copy to the event after which the log of the node continues it.
 *
 * @param copy the last copied event
 * @param reason response of the node
 */
export async function bridgeGap(
  { sequence, gaps }: Pick<CopyState, "sequence" | "gaps">,
  reason: unknown,
  { postgres, feed, epoch, signal, onCopied, logger }: CopyDeps,
): Promise<void> {
  const { after, last } = await firstLine(feed.events("oldest", signal));
  const next = Math.max(after, sequence);
  await markGap(postgres, sequence, next, epoch);
  onCopied({ sequence: next, gaps: gaps + 1 });
  const height = await lastHeight(postgres);
  logger.error(
    { err: reason, lastCopied: sequence, next: next + 1, height },
    "events are missing in the log of the node: webhooks of delivery workers did not receive them; " +
      "start a replay from this height for each webhook that must have them",
  );
  // After the record: otherwise, a mirror that was killed between the two would not notice the gap.
  if (last < next) await feed.continueEvents(next, signal);
}

async function firstLine(
  lines: ReturnType<CopyDeps["feed"]["events"]>,
): Promise<{ readonly after: number; readonly last: number }> {
  for await (const line of lines) if ("after" in line) return line;
  throw new MirrorError("MIRROR_NODE_UNREACHABLE", "the node ended a response before its first line");
}

/** Returns the height of the last copied event of a block. */
async function lastHeight(postgres: CopyDeps["postgres"]): Promise<number | undefined> {
  const [row] = await postgres.query<{ height: string }>(
    "SELECT height FROM events WHERE height IS NOT NULL ORDER BY sequence DESC LIMIT 1",
  );
  return row && Number(row.height);
}
