/**
 * A node that only follows, beside one that forges faster than the rate limit of posted blocks (p2p.md 6.3
 * and 12).
 */
import { afterAll, test } from "vitest";
import { createWorld, type World } from "../../../test-support/peers/world.ts";

const MAX_LAG_BLOCKS = 1;
/** By block time: the first exceeds the limit of 2 blocks per 4 s, the second equals it. */
const WATCHED_BLOCKS = { 1: 12, 2: 6 };

const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});

test.concurrent.for([1, 2] as const)(
  "At one block in %i s, a follower reaches the block before the head again, after many blocks.",
  async (blocktime, { expect }) => {
    const world = await createWorld({ nodes: 1, blocktime });
    worlds.push(world);
    const [forger, follower] = [await world.start(0), await world.start(1)];
    await expect.poll(() => follower.height(), { interval: 250 }).toBeGreaterThan(1);
    const end = (await forger.height()) + WATCHED_BLOCKS[blocktime];
    await expect.poll(() => follower.height(), { interval: 100 }).toBeGreaterThanOrEqual(end);
    // A busy machine delays a follower for some slots, but the rate limit does it all the time.
    const lag = async () => (await forger.height()) - (await follower.height());
    await expect.poll(lag, { interval: 100 }).toBeLessThanOrEqual(MAX_LAG_BLOCKS);
  },
);
