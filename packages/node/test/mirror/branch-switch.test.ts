/** A node that switches to another branch while it sends its blocks to a new mirror. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { createForkingChain, type ForkingChain, network } from "../../test-support/chain/forking.ts";
import { buildMirror } from "../../test-support/mirror/build.ts";
import { compareTables } from "../../test-support/mirror/dev-chain.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

async function forgeTo(height: number, { chain, forge }: ForkingChain): Promise<void> {
  while (chain.head().height < height) await forge();
}

/** Replaces the blocks above a height. */
async function switchBranch(node: ForkingChain, above: number, height: number): Promise<void> {
  await node.chain.revertTo(above);
  await node.forge([], 1);
  await forgeTo(height, node);
}

/**
 * Builds a mirror of a chain, whose node switches to another branch after it has read a block for the mirror, and compares
 * all rows.
 *
 * @param at heights of the chain, of this block, and of the last block that both branches have
 * @returns heights after which the mirror requested blocks
 */
async function buildDuringSwitch(at: { head: number; read: number; common: number }): Promise<number[]> {
  const folder = temporaryFolder();
  const path = join(folder.path, "node.sqlite");
  const node = createForkingChain(path);
  const postgres = await databases.connect();
  const database = openDatabase(path);
  onTestFinished(async () => {
    database.close();
    await postgres.close();
    folder.remove();
  });
  await forgeTo(at.head, node);
  const requested: number[] = [];
  let isSwitched = false;
  const built = await buildMirror(postgres, path, network, (client) => ({
    ...client,
    async *blocks(after, last, signal) {
      requested.push(after);
      for await (const line of client.blocks(after, last, signal)) {
        yield line;
        if (isSwitched || !("block" in line) || line.height < at.read) continue;
        isSwitched = true;
        await switchBranch(node, at.common, at.head + 2);
      }
    },
  }));
  onTestFinished(built.close);
  await compareTables(database, postgres);
  return requested;
}

describe.skipIf(!hasPostgres)("a mirror that is built while its node switches to another branch", () => {
  // The node reads 64 blocks at a time: the response continues with the other branch.
  test("A mirror that is built during a branch switch of its node has the rows of the new branch.", async () => {
    await buildDuringSwitch({ head: 70, read: 60, common: 55 });
  });

  test("A mirror that is built during a branch switch of its node keeps the blocks that are much lower.", async () => {
    const [first, second] = await buildDuringSwitch({ head: 1_100, read: 1_060, common: 1_055 });
    expect(first).toBe(0);
    expect(second).toBe(900);
  });
});
