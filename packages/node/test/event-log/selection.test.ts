import { createNetwork, genesisBlockFromJson } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { createSelection } from "../../src/event-log/subscribed-events.ts";
import { readChain } from "../../test-support/chain/fixtures.ts";

const { network, genesis } = readChain("chain-1");
const { header } = genesisBlockFromJson(genesis, createNetwork(network));

/** Names that a node this far behind records of a block, and the number of gaps that it marked. */
function select(ageSeconds: number) {
  let gaps = 0;
  const select = createSelection({
    subscribedEvents: { names: () => new Set(["block.applied"]), markGap: () => void gaps++ },
    slots: { blocktime: 8, unixMsOf: (time) => time },
    now: () => header.timestamp + ageSeconds,
  });
  const names = select([{ name: "block.applied", header }], header).map(({ name }) => name);
  return { names, gaps };
}

const RECORDED = { names: ["block.applied"], gaps: 0 };
const LEFT_OUT = { names: [], gaps: 1 };

test("A node that catches up records no events of blocks older than a day, and marks the gap.", () => {
  expect(select(86_400)).toEqual(RECORDED);
  expect(select(86_401)).toEqual(LEFT_OUT);
});
