/**
 * A node that only follows, beside one that forges faster than the rate limit of posted blocks (p2p.md 6.3
 * and 12).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, test } from "vitest";
import { createWorld, type World } from "../../../test-support/peers/world.ts";

const MAX_LAG_BLOCKS = 1;
/** A busy machine can stop a follower for a slot or two, but the rate limit delays it all the time. */
const MIN_SHARE_OF_READINGS = 0.75;
const WATCHED_BLOCKS = { 1: 12, 2: 6, 4: 3 };

const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});

test.concurrent.for([1, 2, 4] as const)(
  "at one block in %i s, a follower lags by at most one block in three of four readings",
  async (blocktime, { expect }) => {
    const world = await createWorld({ nodes: 1, blocktime });
    worlds.push(world);
    const [forger, follower] = [await world.start(0), await world.start(1)];
    await expect.poll(() => follower.height(), { timeout: 60_000, interval: 250 }).toBeGreaterThan(1);
    const end = (await forger.height()) + WATCHED_BLOCKS[blocktime];
    const lags: number[] = [];
    for (let height = 0; height < end; ) {
      height = await forger.height();
      lags.push(height - (await follower.height()));
      await sleep(100);
    }
    const close = lags.filter((lag) => lag <= MAX_LAG_BLOCKS);
    expect(close.length / lags.length, `lags in blocks: ${lags}`).toBeGreaterThan(MIN_SHARE_OF_READINGS);
    await expect.poll(() => follower.height(), { interval: 250 }).toBeGreaterThanOrEqual(end);
  },
);
