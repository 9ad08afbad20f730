import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createNetwork, createRounds, type Network } from "@uniknode/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PastFacts } from "../../src/event-log/past-facts.ts";
import { finalHeight } from "../../src/facts/final.ts";
import { Growth } from "../../src/facts/growth.ts";
import { leafText, leavesOf, withUniksRoot } from "../../src/facts/leaf.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { FactTree } from "../../src/facts/tree/store.ts";
import { present } from "../../src/platform/present.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { createFactLookups } from "../../src/store/chain/fact-lookups.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { blocksOf, openChain, readChain, temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { createForkingChain, network } from "../../test-support/chain/forking.ts";
import { plainRoot } from "../../test-support/facts/plain-tree.ts";
import { plainMaps } from "../../test-support/facts/plain-uniks.ts";
import { createDraws } from "../../test-support/random.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Leaves of all final blocks, derived from the blocks alone. */
function finalLeaves(database: Database, network: Network): string[] {
  const blocks = new BlockStore(database);
  const height = finalHeight(present(blocks.head(), "the result of head").height, network);
  const final = Array.from({ length: height }, (_, index) =>
    present(blocks.block(index + 1), "the result of block"),
  );
  const maps = plainMaps(final, network);
  const { roundAt } = createRounds(network);
  return final.flatMap((block) => {
    const facts = new PastFacts(createFactLookups(database), network).of(block);
    const map = maps.get(block.header.height);
    const { round } = roundAt(block.header.height);
    const all = map
      ? withUniksRoot(facts, { name: "uniks.root", round, root: map.root, uniks: map.uniks })
      : facts;
    return leavesOf(block.header, all, network).map(leafText);
  });
}

function complete(growth: Growth): void {
  while (growth.step(performance.now() + 5));
}

const checkpointOf = (database: Database, of: Network) => new SqliteFactReader(database, of).checkpoint();
const rootOf = async (database: Database, of: Network) =>
  Buffer.from((await checkpointOf(database, of)).root);

const DEPTH = finalHeight(1_000, network) - 1_000;

test("A block is final when two rounds of delegates follow it.", () => {
  const { activeDelegates } = network.milestoneAt(1);
  expect(DEPTH).toBe(-2 * activeDelegates);
  expect(finalHeight(2 * activeDelegates, network)).toBe(0);
  expect(finalHeight(2 * activeDelegates + 1, network)).toBe(1);
  expect(finalHeight(0, network)).toBe(0);
});

test.each([1, 2, 3])(
  "After any reverts and restarts, the tree is that of the final blocks (seed %i).",
  async (seed) => {
    const random = createDraws(seed);
    const path = `${folder.path}/node.sqlite`;
    const { chain, forge, transfer } = createForkingChain(path);
    const database = openDatabase(path);
    const truncations: [from: number, to: number][] = [];
    const open = () =>
      new Growth({
        database,
        network,
        onTruncated: (from, to) => void truncations.push([from.height, to?.height ?? 0]),
      });
    let growth = open();
    let isRunning = true;
    chain.subscribe(({ applied, revertedBlocks }) => {
      if (!isRunning) return;
      if (revertedBlocks > 0) growth.reverted();
      growth.applied(applied);
    });
    for (let turn = 0; turn < 40; turn++) {
      const blocks = 1 + random.integer(0, 11);
      for (let index = 0; index < blocks; index++) {
        // The block above the genesis block is of an earlier version.
        const isFilled = chain.head().height > 1 && random.chance(0.5);
        await forge(isFilled ? [transfer(random.integer(0, 3), 1n)] : [], random.integer(0, 2));
        if (isRunning && random.chance(0.25)) growth.step(0);
      }
      const { height } = chain.head();
      if (random.chance(0.3)) await chain.revertTo(Math.max(1, height - random.integer(0, 3 * -DEPTH)));
      const kind = random.integer(0, 5);
      if (kind === 0) isRunning = false;
      else if (!isRunning || kind === 1) {
        growth = open();
        isRunning = true;
      }
      if (!isRunning) continue;
      if (random.chance(0.5)) growth.step(0);
      else complete(growth);
    }
    growth = open();
    complete(growth);
    const leaves = finalLeaves(database, network);
    const { size } = await checkpointOf(database, network);
    // A longer tree contains the blocks that were final before.
    expect(size).toBeGreaterThanOrEqual(leaves.length);
    while (growth.figures().height > finalHeight(chain.head().height, network)) await forge();
    complete(growth);
    const now = finalLeaves(database, network);
    expect((await checkpointOf(database, network)).size).toBe(now.length);
    expect(await rootOf(database, network)).toEqual(plainRoot(now));
    for (const [from, to] of truncations) expect(to).toBeLessThan(from);

    const fresh = createForkingChain(`${folder.path}/fresh.sqlite`);
    for (let height = 2; height <= chain.head().height; height++) {
      await fresh.chain.accept([{ ...blockAt(database, height) }]);
    }
    const replayed = openDatabase(`${folder.path}/fresh.sqlite`);
    complete(new Growth({ database: replayed, network, onTruncated: () => expect.unreachable() }));
    expect(await checkpointOf(replayed, network)).toEqual(await checkpointOf(database, network));
    replayed.close();
    database.close();
  },
);

const blockAt = (database: Database, height: number) => {
  const [bytes] = new BlockStore(database).bytes(height, height);
  return {
    ...present(new BlockStore(database).block(height), "the result of block"),
    headerBytes: present(bytes, "bytes").header,
  };
};

test("A revert of blocks that are not final does not change the tree; a deeper one does, and is reported.", async () => {
  const { chain, forge, transfer } = createForkingChain(`${folder.path}/node.sqlite`);
  const database = openDatabase(`${folder.path}/node.sqlite`);
  const truncations: unknown[] = [];
  const growth = new Growth({
    database,
    network,
    onTruncated: (...heights) => void truncations.push(heights.map((mark) => mark?.height)),
  });
  chain.subscribe(({ applied, revertedBlocks }) => {
    if (revertedBlocks > 0) growth.reverted();
    growth.applied(applied);
    // Without a deadline: on a busy machine one step would leave a part of the work.
    while (growth.step(Number.POSITIVE_INFINITY));
  });
  await forge();
  for (let index = 0; index < 3 - DEPTH; index++) await forge([transfer(0, 1n)]);
  const { height } = chain.head();
  const before = await checkpointOf(database, network);
  expect(before.block).toMatchObject({ height: height + DEPTH });
  await chain.revertTo(height + DEPTH);
  expect(await checkpointOf(database, network)).toEqual(before);
  expect(growth.figures()).toEqual({ height: height + DEPTH, size: before.size, lag: 0 });
  expect(truncations).toEqual([]);
  await chain.revertTo(height + DEPTH - 2);
  expect(truncations).toEqual([[height + DEPTH, height + DEPTH - 2]]);
  expect(await checkpointOf(database, network)).toMatchObject({ block: { id: chain.head().id } });
  database.close();
});

test("Blocks that were stored before the tree existed are added, and their leaves are found near a mark.", async () => {
  const content = readChain("chain-random-2");
  const { chain, database, close } = openChain(content, `${folder.path}/node.sqlite`);
  await chain.accept(blocksOf(content));
  const of = createNetwork(content.network);
  const growth = new Growth({ database, network: of, onTruncated: () => expect.unreachable() });
  while (growth.step(Number.POSITIVE_INFINITY));
  const leaves = finalLeaves(database, of);
  expect(leaves.length).toBeGreaterThan(100);
  expect(await rootOf(database, of)).toEqual(plainRoot(leaves));
  const reader = new SqliteFactReader(database, of);
  expect((await reader.leaves(0, leaves.length))?.map(leafText)).toEqual(leaves);
  for (const index of [0, 1, 17, leaves.length - 1]) {
    expect(leafText(present(await reader.inclusion(index, undefined), "the result of inclusion").leaf)).toBe(
      leaves[index],
    );
  }
  const tree = new FactTree(database);
  const blocksOfLeaf = leaves.map(
    (text, leaf) => Number(text.split("|")[0]) - (tree.markBefore(leaf)?.height ?? 0),
  );
  const leavesBefore = leaves.map(
    (text, leaf) => leaf - Number(text.split("|")[1]) - (tree.markBefore(leaf)?.size ?? 0),
  );
  expect([Math.max(...blocksOfLeaf), Math.max(...leavesBefore)]).toEqual([
    expect.toSatisfy((blocks: number) => blocks <= 32, "at most 32 blocks"),
    expect.toSatisfy((count: number) => count < 32, "fewer than 32 leaves of other blocks"),
  ]);
  expect(await reader.leaves(1, leaves.length)).toBeUndefined();
  expect(await reader.inclusion(leaves.length, undefined)).toBeUndefined();
  expect(await reader.inclusion(0, leaves.length + 1)).toBeUndefined();
  expect(await reader.consistency(0, leaves.length + 1)).toBeUndefined();
  expect(await reader.consistency(2, 1)).toBeUndefined();
  expect(await reader.tile(0, 0, Math.min(leaves.length, 256))).toBeDefined();
  expect(await reader.tile(0, Math.floor(leaves.length / 256), 1 + (leaves.length % 256))).toBeUndefined();
  await close();
});

test("A tree resumes at the position of a killed process.", async () => {
  const name = "chain-random-1";
  const path = `${folder.path}/node.sqlite`;
  const script = new URL("./growing.ts", import.meta.url).pathname;
  const random = createDraws(7);
  let isFinished = false;
  for (let run = 0; !isFinished; run++) {
    const child = spawn(process.execPath, [script, name, path], { stdio: ["ignore", "pipe", "inherit"] });
    const killAt = run < 5 ? 1 + random.integer(0, 11) : Number.POSITIVE_INFINITY;
    let lines = 0;
    createInterface(child.stdout).on("line", (line) => {
      if (line === "end") isFinished = true;
      if (++lines === killAt) child.kill("SIGKILL");
    });
    await once(child, "close");
  }
  const content = readChain(name);
  const of = createNetwork(content.network);
  const { database, close } = openChain(content, path);
  const leaves = finalLeaves(database, of);
  expect((await checkpointOf(database, of)).size).toBe(leaves.length);
  expect(await rootOf(database, of)).toEqual(plainRoot(leaves));
  await close();
});
