/** A forger that is killed, or restarts with older data, never signs two blocks for one slot. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { createWorld, type TestNode } from "../../test-support/peers/world.ts";

/** Seconds; long enough for a process to end and start within one slot. */
const BLOCKTIME = 6;

type BlockRow = { id: string; height: number; timestamp: { epoch: number } };

/**
 * Network of one node, and the ids of all observed blocks, by their slots.
 * @param onTestFinished that of the test: the imported one belongs to another test that runs concurrently
 */
async function watch(onTestFinished: TestContext["onTestFinished"]) {
  const world = await createWorld({ nodes: 1, blocktime: BLOCKTIME });
  onTestFinished(world.close);
  const seen = new Map<number, Set<string>>();

  async function look(node: TestNode): Promise<number> {
    const rows = await node.get<BlockRow[]>("/blocks?limit=100");
    for (const { id, timestamp } of rows) {
      const slot = Math.floor(timestamp.epoch / BLOCKTIME);
      seen.set(slot, (seen.get(slot) ?? new Set()).add(id));
    }
    return present(rows[0]).height;
  }
  return { world, seen, look, mostOfOneSlot: () => Math.max(...[...seen.values()].map(({ size }) => size)) };
}

describe.concurrent("a slot is forged once", () => {
  test("A node that is killed as soon as its block is visible, and restarted, forges its slot once.", async ({
    expect,
    onTestFinished,
  }) => {
    const { world, look, mostOfOneSlot } = await watch(onTestFinished);
    let node = await world.start(0);
    for (const height of [2, 3]) {
      await expect.poll(() => look(node)).toBeGreaterThanOrEqual(height);
      await node.stop("SIGKILL");
      node = await world.start(0);
    }
    await expect.poll(() => look(node)).toBeGreaterThanOrEqual(4);
    expect(mostOfOneSlot()).toBe(1);
  });

  test("A node that is started from a copy of its data without the block forges its slot once.", async ({
    expect,
    onTestFinished,
  }) => {
    const { world, seen, look, mostOfOneSlot } = await watch(onTestFinished);
    let node = await world.start(0);
    await expect.poll(() => look(node)).toBeGreaterThanOrEqual(2);
    await node.stop();
    const [data, copy] = [join(world.folder, "node-0"), join(world.folder, "copy")];
    cpSync(data, copy, { recursive: true });
    const before = seen.size;
    node = await world.start(0);
    await expect.poll(() => look(node)).toBeGreaterThan(before);
    await node.stop("SIGKILL");
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    node = await world.start(0);
    const known = seen.size;
    await expect.poll(() => look(node).then(() => seen.size)).toBeGreaterThan(known);
    expect(mostOfOneSlot()).toBe(1);
  });
});
