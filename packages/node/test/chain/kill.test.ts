import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compareState } from "../../../../tools/vectors/ledger-chain.ts";
import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import {
  CHAINS,
  type Content,
  dumpOf,
  openChain,
  readChain,
  stateInFile,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { runUntilKilled } from "../../test-support/process/killed-program.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Options of the child as well: the history is part of the comparison. */
const RECORDING = { recordsHistory: true };

/** Numbers in [0, 1) that a seed determines. */
function randomFrom(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 48271) % 2147483647;
    return value / 2147483647;
  };
}

const SCRIPT = new URL("./replaying.ts", import.meta.url).pathname;

/** Number of blocks below the head that a killed chain can revert. */
const UNDO_DEPTH = 10;

/** Ids of the blocks above the genesis block by the event log alone. */
function chainFromEvents(database: Database): string[] {
  const ids: string[] = [];
  const events = database.prepare<{ name: string; block_id: string }>(
    "SELECT * FROM events ORDER BY sequence",
  );
  for (const { name, block_id } of events.all()) {
    if (name === "block.applied") ids.push(block_id);
    else expect(ids.pop()).toBe(block_id);
  }
  return ids;
}

const dumpAfter = async (content: Content, path: string): Promise<string[]> => {
  const { database, close } = openChain(content, path, RECORDING);
  const dump = dumpOf(database);
  await close();
  return dump;
};

/**
 * A written and a random chain; vectors.test.ts replays all. One seed per chain; the seed determines when the child is killed. Change it
 * to try other moments.
 */
describe.each(CHAINS.slice(0, 2).map((name, index) => ({ name, seed: 1 + index })))(
  "$name killed with seed $seed",
  (run) => {
    test("A killed chain loses nothing that was reported, and ends with the recorded state.", async () => {
      const random = randomFrom(run.seed * 7919);
      const content = readChain(run.name);
      const path = `${folder.path}/killed.sqlite`;
      let known = 1;
      let kills = 0;
      for (let isFinished = false; !isFinished; kills++) {
        const delivery = 1 + Math.floor(random() * 4);
        const moment = { heights: 2 + Math.floor(random() * 16), delayMs: random() * 12 };
        const args = [run.name, path, String(delivery)];
        const { heights, ...end } = await runUntilKilled(SCRIPT, args, moment);
        isFinished = end.isFinished;
        // Everything that the last run saw on disk is there, except for a revert that it had no time to
        // report.
        expect(heights[0] ?? known).toBeGreaterThanOrEqual(known - 2);
        known = heights.at(-1) ?? known;
      }
      // The last run finishes. On a busy machine the others end long after the line that chose the moment.
      expect(kills).toBeGreaterThan(1);

      const { chain, database, close } = openChain(content, path, RECORDING);
      const expected = { wallets: { ...content.initial.wallets }, nfts: {} };
      for (const { expected: changed } of content.blocks) {
        Object.assign(expected.wallets, changed.wallets);
        Object.assign(expected.nfts, changed.nfts);
      }
      compareState(stateInFile(database), expected);
      expect(chainFromEvents(database)).toEqual(content.blocks.map(({ id }: { id: string }) => id));
      expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
      expect(chain.head().height).toBe(content.blocks.length + 1);
      await close();

      const whole = openChain(content, `${folder.path}/whole.sqlite`, RECORDING);
      await whole.chain.accept(
        content.blocks.map(({ serialized }: { serialized: string }) => Buffer.from(serialized, "hex")),
      );
      const dump = dumpOf(whole.database);
      await whole.close();
      expect(await dumpAfter(content, path)).toEqual(dump);
    });
  },
);

test("A chain that is killed below a pinned block knows its unchecked blocks, and can revert its last blocks.", async () => {
  const random = randomFrom(4_711);
  const [name] = CHAINS;
  const content = readChain(present(name, "name"));
  const path = `${folder.path}/pinned.sqlite`;
  const { height, id } = content.blocks[60];
  const states = new Set<string>();
  for (let isFinished = false; !isFinished; ) {
    const moment = { heights: 2 + Math.floor(random() * 20), delayMs: random() * 12 };
    const args = [present(name, "name"), path, "3", `${height}:${id}`, `${UNDO_DEPTH}`];
    ({ isFinished } = await runUntilKilled(SCRIPT, args, moment));
    const { chain, database, close } = openChain(content, path, {
      ...RECORDING,
      deps: { assumeValid: { height, id } },
    });
    const { height: head } = chain.head();
    const isUnchecked = head > 1 && head < height;
    expect(chain.assumption().uncheckedFrom).toBe(isUnchecked ? 2 : undefined);
    states.add(isUnchecked ? "unchecked" : "checked");
    const lowest = Math.max(head - UNDO_DEPTH + 1, height - UNDO_DEPTH);
    const undo = database.prepare("SELECT min(height) AS lowest, count(*) AS rows FROM undo").get();
    expect(undo).toEqual(lowest > head ? { lowest: null, rows: 0 } : { lowest, rows: head - lowest + 1 });
    await close();
    if (isUnchecked)
      expect(() => openChain(content, path, RECORDING)).toThrow(`--assume-valid ${height}:${id}`);
  }
  expect([...states]).toEqual(["unchecked", "checked"]);
  const whole = openChain(content, `${folder.path}/whole.sqlite`, { ...RECORDING, undoDepth: UNDO_DEPTH });
  await whole.chain.accept(
    content.blocks.map(({ serialized }: { serialized: string }) => Buffer.from(serialized, "hex")),
  );
  const dump = dumpOf(whole.database);
  await whole.close();
  expect(await dumpAfter(content, path)).toEqual(dump);
});
