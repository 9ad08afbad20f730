import { createNetwork, genesisBlockFromJson } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { maxAgeSecondsOf } from "../../src/event-log/recorded.ts";
import { createSelection } from "../../src/event-log/selection.ts";
import { readChain } from "../../test-support/chain/fixtures.ts";

const { network, genesis } = readChain("chain-1");
const { header } = genesisBlockFromJson(genesis, createNetwork(network));

/** What a node that is so far behind writes of a block, and whether readers are told that they missed some of it. */
function select(ageSeconds: number, hours: number) {
  let missed = 0;
  const select = createSelection({
    interest: { names: () => new Set(["block.applied"]), missed: () => void missed++ },
    slots: { blocktime: 8 },
    now: () => header.timestamp + ageSeconds,
    maxAgeSeconds: maxAgeSecondsOf(hours),
  });
  const names = select([{ name: "block.applied", header }], header).map(({ name }) => name);
  return { names, missed };
}

const TOLD = { names: ["block.applied"], missed: 0 };
const LEFT_OUT = { names: [], missed: 1 };

test("a node that catches up leaves out blocks older than the operator says", () => {
  expect(select(2 * 3_600, 2)).toEqual(TOLD);
  expect(select(2 * 3_600 + 1, 2)).toEqual(LEFT_OUT);
});

test("for 0 hours no block is too old", () => {
  expect(select(1e9, 0)).toEqual(TOLD);
});
