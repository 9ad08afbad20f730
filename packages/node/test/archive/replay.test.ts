import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { replay } from "../../src/archive/import.ts";
import { blocksOf, type OpenChain, openChain, readChain } from "../../test-support/chain/fixtures.ts";

const content = readChain("chain-1");
const blocks = blocksOf(content);

let open: OpenChain;
beforeEach(() => {
  open = openChain(content, ":memory:");
});
afterEach(() => open.close());

describe("a replay", () => {
  test("A replay applies all blocks of a source, however many are in flight.", async () => {
    const progress: number[] = [];
    const options = { maxBytesInFlight: 1, onProgress: (accepted: number) => progress.push(accepted) };
    expect(await replay(open.chain, blocks.slice(0, 60), options)).toEqual({ accepted: 60 });
    async function* others() {
      yield* blocks.slice(60);
    }
    expect(await replay(open.chain, others())).toEqual({ accepted: blocks.length - 60 });
    expect(open.chain.head().height).toBe(blocks.length + 1);
    expect(progress.at(-1)).toBe(60);
  });

  test("A replay ends at the block that is refused.", async () => {
    const outcome = await replay(open.chain, [...blocks.slice(0, 30), ...blocks.slice(31)]);
    expect(outcome).toMatchObject({ accepted: 30, refusal: { kind: "Rejected" } });
    expect(open.chain.head().height).toBe(31);
  });

  test("A replay of an empty source applies nothing.", async () => {
    expect(await replay(open.chain, [])).toEqual({ accepted: 0 });
  });

  test("A replay reports the error of the chain.", async () => {
    await open.chain.close();
    await expect(replay(open.chain, blocks)).rejects.toMatchObject({ code: "CHAIN_CLOSED" });
  });
});
