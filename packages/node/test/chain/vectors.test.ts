import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compareRound, compareState } from "../../../../tools/vectors/ledger-chain.ts";
import {
  blocksOf,
  CHAINS,
  dumpOf,
  openChain,
  readChain,
  stateInFile,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe.each(CHAINS)("%s through the pipeline into a file", (name) => {
  const content = readChain(name);
  const path = () => `${folder.path}/chain.sqlite`;

  test("The chain leaves every wallet, token, ranking and order as recorded, and reverts byte for byte.", async () => {
    const { chain, database, close } = openChain(content, path());
    const expected = { wallets: { ...content.initial.wallets }, nfts: {} };
    compareState(stateInFile(database), expected);
    const dump = () => dumpOf(database).join("\n");
    const dumps = [dump()];
    for (const [index, bytes] of blocksOf(content).entries()) {
      const { id, height, expected: changed } = content.blocks[index];
      expect(await chain.accept([bytes])).toEqual([{ kind: "Accepted" }]);
      expect(chain.head()).toMatchObject({ id, height });
      Object.assign(expected.wallets, changed.wallets);
      Object.assign(expected.nfts, changed.nfts);
      const state = stateInFile(database);
      compareState(state, expected);
      if (changed.newRound) compareRound(state, changed.newRound);
      dumps.push(dump());
    }
    for (dumps.pop(); dumps.length > 0; dumps.pop()) {
      await chain.revertTo(dumps.length);
      expect(dump(), `after the revert to ${dumps.length}`).toBe(dumps.at(-1));
    }
    await close();
  });

  test("The chain creates the same database in one batch as block by block, after reverts of any depth.", async () => {
    const blocks = blocksOf(content);
    const single = openChain(content, path());
    for (const bytes of blocks) await single.chain.accept([bytes]);

    const expected = dumpOf(single.database);
    const { chain, database, close } = openChain(content, `${folder.path}/other.sqlite`);
    await chain.accept(blocks);
    expect(dumpOf(database)).toEqual(expected);
    for (const target of [blocks.length - 2, 40, 7, 1]) {
      await chain.revertTo(target);
      expect(chain.head().height).toBe(target);
      await chain.accept(blocks.slice(target - 1));
      expect(dumpOf(database)).toEqual(expected);
    }
    await single.close();
    await close();
  });

  test("The chain continues at its position when it is opened again.", async () => {
    const blocks = blocksOf(content);
    for (let from = 0; from < blocks.length; from += 13) {
      const { chain, close } = openChain(content, path());
      expect(chain.head().height).toBe(from + 1);
      await chain.accept(blocks.slice(from, from + 13));
      await close();
    }
    const { database, close } = openChain(content, path());
    const expected = { wallets: { ...content.initial.wallets }, nfts: {} };
    for (const { expected: changed } of content.blocks) {
      Object.assign(expected.wallets, changed.wallets);
      Object.assign(expected.nfts, changed.nfts);
    }
    compareState(stateInFile(database), expected);
    await close();
  });
});
