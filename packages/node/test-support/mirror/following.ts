/** Follows the feed of a node up to a block. */

import { type FollowDeps, follow } from "../../src/mirror/follow.ts";
import { readHead } from "../../src/mirror/head.ts";
import type { FeedLine } from "../../src/mirror/line.ts";

/** @param id the head of the node */
export async function followTo(id: string, deps: FollowDeps): Promise<void> {
  const isReached = async () => (await readHead(deps.postgres))?.id === id;
  if (await isReached()) return;
  await follow({ ...deps, feed: endingAt(deps.feed, id) });
  if (!(await isReached())) await followTo(id, deps);
}

/** Ends a response after the block with an id. */
function endingAt(feed: FollowDeps["feed"], id: string): FollowDeps["feed"] {
  async function* until(lines: AsyncIterable<FeedLine>): AsyncIterable<FeedLine> {
    for await (const line of lines) {
      yield line;
      if ("block" in line ? line.id === id : "back" in line && line.back.id === id) return;
    }
  }
  return { follow: (positions, signal) => until(feed.follow(positions, signal)) };
}
