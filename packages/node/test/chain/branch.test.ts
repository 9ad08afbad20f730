/** Switch from the top of the chain to another branch, in one commit (decision 10). */

import { type EncodedBlock, encodeBlock } from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChainChange } from "../../src/chain/outcome.ts";
import { present } from "../../src/platform/present.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import {
  keysOf,
  network,
  now,
  openTestChain,
  range,
  slots,
  type TestChain,
} from "../../test-support/peers/chains.ts";
import { openHeadReader } from "./head-reader.ts";

const BASE = 10;
const DEPTH = 50;
let folder: ReturnType<typeof temporaryFolder>;
let own: TestChain;
let other: TestChain;
/** Blocks of the other branch, from the first that is not on ours. */
let branch: EncodedBlock[];
let changes: ChainChange[];

const bytesOf = (blocks: readonly EncodedBlock[]) => blocks.map((block) => encodeBlock(block, network));
const idAt = (height: number) => own.chain.blocks.header(height)?.id;

beforeEach(async () => {
  folder = temporaryFolder();
  own = openTestChain(`${folder.path}/chain.sqlite`);
  other = openTestChain();
  const common = await own.forge(...range(1, BASE - 1));
  await other.take(...common);
  await own.forge(...range(BASE, BASE + DEPTH - 1));
  // One slot was missed, so that every later block differs.
  branch = await other.forge(...range(BASE + 1, BASE + DEPTH + 1));
  changes = [];
  own.chain.subscribe((change) => changes.push(change));
});
afterEach(async () => {
  await own.close();
  await other.close();
  folder.remove();
});

describe("a longer branch", () => {
  test("A longer branch replaces fifty blocks, and no reader sees a state in between.", async () => {
    const reader = await openHeadReader(`${folder.path}/chain.sqlite`, BASE + 1);
    const before = own.chain.head();
    const outcomes = await own.chain.switchTo(BASE, bytesOf(branch));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["Accepted"]));
    await reader.sees(present(branch.at(-1), "the last of branch").header.id);
    const seen = await reader.close();
    const oldFork = { height: before.height, id: before.id, forkId: expect.any(String) };
    const newFork = {
      height: present(branch.at(-1), "the last of branch").header.height,
      id: present(branch.at(-1), "the last of branch").header.id,
      forkId: present(branch[0], "an item of branch").header.id,
    };
    expect(seen).toEqual([oldFork, newFork]);
    expect(present(seen[0], "an item of seen").forkId).not.toBe(newFork.forkId);
  });

  test("A longer branch is announced once, with the reverted and the applied blocks.", async () => {
    await own.chain.switchTo(BASE, bytesOf(branch));
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({
      revertedBlocks: DEPTH,
      head: { id: present(branch.at(-1), "the last of branch").header.id },
    });
    expect(changes[0]?.applied.map(({ block }) => block.header.id)).toEqual(
      branch.map(({ header }) => header.id),
    );
    expect(own.chain.head().id).toBe(present(branch.at(-1), "the last of branch").header.id);
  });

  test("A longer branch can be reverted again, and be extended.", async () => {
    const old = range(BASE + 1, BASE + DEPTH).map((height) =>
      present(own.chain.blocks.block(height), "the result of block"),
    );
    await own.chain.switchTo(BASE, bytesOf(branch));
    const [next] = await other.forge(BASE + DEPTH + 2);
    await own.take(present(next, "next"));
    const reverted = own.chain.revertedBlocks();
    await own.chain.revertTo(BASE);
    expect(own.chain.revertedBlocks() - reverted).toBe(branch.length + 1);
    await own.take(...old);
    expect(own.chain.head().id).toBe(present(old.at(-1), "the last of old").header.id);
  });
});

test("The headers of a branch are reported before the switch, except of a block that cannot be read.", async () => {
  const bytes = bytesOf(branch);
  bytes[20] = present(bytes[20], "an item of bytes").slice(0, 50);
  const ids: string[] = [];
  await own.chain.switchTo(BASE, bytes, ({ id }) => ids.push(id));
  expect(ids.slice(0, 20)).toEqual(branch.slice(0, 20).map(({ header }) => header.id));
  expect(ids).not.toContain(present(branch[20], "an item of branch").header.id);
  const heads: number[] = [];
  await own.chain.switchTo(BASE, bytesOf(branch), () => heads.push(own.chain.head().height));
  expect(heads).toEqual(branch.map(() => BASE + DEPTH));
});

test("A header with a wrong signature is not reported.", async () => {
  const bytes = bytesOf(branch);
  const wrong = present(bytes[20]);
  wrong[wrong.length - 1] = present(wrong.at(-1)) ^ 1;
  const ids: string[] = [];
  await own.chain.switchTo(BASE, bytes, ({ id }) => ids.push(id));
  expect(ids).toHaveLength(branch.length - 1);
  expect(ids).not.toContain(present(branch[20]).header.id);
});

describe("the chain is unchanged, and no listener is notified,", () => {
  let before: string | undefined;
  beforeEach(() => {
    before = own.chain.head().id;
  });
  afterEach(async () => {
    expect(own.chain.head().id).toBe(before);
    expect(idAt(BASE + DEPTH)).toBe(before);
    expect(changes).toEqual([]);
    // The executed changes are discarded: both branches can be extended.
    await own.forge(BASE + DEPTH);
  });

  test("The chain is unchanged, and no listener notified, when the last block of the branch is wrong.", async () => {
    const bytes = bytesOf(branch);
    const last = present(bytes.at(-1), "the last block");
    last[60] = present(last[60], "a byte") ^ 1;
    const outcomes = await own.chain.switchTo(BASE, bytes);
    expect(outcomes).toHaveLength(branch.length);
    expect(outcomes.at(-1)).toMatchObject({ kind: "Rejected", reason: "verification-failed" });
    // No block was executed for it.
    expect(new Set(outcomes.slice(0, -1).map(({ kind }) => kind))).toEqual(new Set(["Skipped"]));
  });

  test("The chain is unchanged, and no listener notified, when a block of the branch does not continue the one below.", async () => {
    const outcomes = await own.chain.switchTo(BASE, bytesOf(branch.with(20, present(branch[19]))));
    expect(outcomes).toHaveLength(21);
    expect(outcomes.map(({ kind }) => kind)).toEqual([...Array(20).fill("Skipped"), "Unchained"]);
  });

  test("The chain is unchanged, and no listener notified, when a delegate of another slot made a block of the branch.", async () => {
    await other.chain.revertTo(BASE + DEPTH);
    const [owner, stranger] = [BASE + DEPTH + 1, BASE + DEPTH + 2].map((slot) => other.make(slot).header);
    const keys = present(keysOf.get(present(stranger).generatorPublicKey));
    const wrong = other.make(BASE + DEPTH + 1, { keys });
    expect(wrong.header.generatorPublicKey).not.toBe(present(owner).generatorPublicKey);
    const outcomes = await own.chain.switchTo(BASE, bytesOf([...branch.slice(0, DEPTH), wrong]));
    expect(outcomes).toHaveLength(DEPTH + 1);
    expect(outcomes.at(-1)).toEqual({ kind: "Rejected", reason: "wrong-generator" });
  });

  test("The chain is unchanged, and no listener notified, when a block of the branch cannot be read.", async () => {
    const bytes = bytesOf(branch);
    bytes[20] = present(bytes[20], "an item of bytes").slice(0, 50);
    const outcomes = await own.chain.switchTo(BASE, bytes);
    expect(outcomes).toHaveLength(21);
    expect(outcomes.at(-1)).toMatchObject({ kind: "Unreadable" });
  });

  test("The chain is unchanged, and no listener notified, when the branch does not extend that block.", async () => {
    const outcomes = await own.chain.switchTo(BASE - 1, bytesOf(branch).concat(bytesOf(branch)));
    expect(outcomes).toHaveLength(1);
    expect(present(outcomes[0], "an item of outcomes").kind).not.toBe("Accepted");
  });

  test("The chain is unchanged, and no listener notified, when the branch is not higher than the chain has become.", async () => {
    await expect(own.chain.switchTo(BASE, bytesOf(branch.slice(0, DEPTH)))).rejects.toMatchObject({
      code: "CHAIN_BRANCH_SHORT",
      isRetryable: false,
    });
  });

  test("The chain is unchanged, and no listener notified, when the block to revert to does not exist.", async () => {
    for (const height of [BASE + 0.5, BASE + DEPTH + 1, Number.POSITIVE_INFINITY]) {
      await expect(own.chain.switchTo(height, bytesOf(branch))).rejects.toMatchObject({
        code: "CHAIN_HEIGHT_UNKNOWN",
      });
    }
  });

  test("The chain is unchanged, and no listener notified, when forging fails.", async () => {
    await expect(
      own.chain.forgeFrom(BASE, () => {
        throw new Error("no key at hand");
      }),
    ).rejects.toThrow("no key at hand");
  });

  test("The chain is unchanged, and no listener notified, when a forged block is not valid at its position.", async () => {
    const wrong = own.make(BASE + DEPTH);
    await expect(own.chain.forgeFrom(BASE, () => wrong)).rejects.toThrow(/refused/);
  });
});

test("The blocks of a branch can be forged during the switch.", async () => {
  let slot = BASE + DEPTH;
  const made: EncodedBlock[] = [];
  await own.chain.forgeFrom(BASE, () => {
    if (made.length === DEPTH + 1) return undefined;
    const block = own.make(++slot);
    made.push(block);
    return block;
  });
  expect(changes).toHaveLength(1);
  expect(made.map(({ header }) => header.height)).toEqual(range(BASE + 1, BASE + DEPTH + 1));
  expect(made.map(({ header }) => idAt(header.height))).toEqual(made.map(({ header }) => header.id));
  expect(slots.slotTime(slot)).toBeLessThan(now());
});
