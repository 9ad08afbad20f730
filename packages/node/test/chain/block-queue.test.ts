/** Parts of a commit: the writer occupies the thread for the whole commit. */
import { expect, test } from "vitest";
import { BlockQueue, createBatch } from "../../src/chain/block-queue.ts";
import { TimeSlices } from "../../src/platform/threads/time-slices.ts";
import { network } from "../../test-support/peers/chains.ts";

test("A commit has at most 16 parts, however many are ready.", async () => {
  const commits: number[] = [];
  const verifier = {
    verify: () => Promise.reject(new Error("there is nothing to verify")),
    close: () => Promise.resolve(),
  };
  const slices = new TimeSlices({ sliceMs: 10 });
  const queue = new BlockQueue({ network, verifier, now: Date.now, slices }, (parts) => {
    commits.push([...parts].length);
  });
  queue.add(Array.from({ length: 40 }, () => ({ batch: createBatch([]), blocks: [] })));
  await queue.idle();
  expect(commits).toEqual([16, 16, 8]);
});
