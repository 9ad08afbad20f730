/** Blocks of an old node in the form that the chain takes. */
import { forgeBlock, headerToJson, keysFromPassphrase } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { createFetch } from "../../../src/peers/download/source.ts";
import { network, openTestChain } from "../../../test-support/peers/chains.ts";

test("Of a block with more transactions than allowed, one more than allowed is decoded.", async () => {
  const chain = openTestChain();
  const previous = chain.chain.head();
  await chain.close();
  const { header } = forgeBlock(
    { network, timestamp: 100, previous, transactions: [] },
    keysFromPassphrase("a passphrase"),
  );
  const { maxTransactions } = network.milestoneAt(1).block;
  const received = [
    { ...headerToJson(header), transactions: Array(100_000).fill("00") },
    { ...headerToJson(header), transactions: ["00", "01"] },
  ];
  const fetch = createFetch((async () => received) as never, network);
  const blocks = await fetch({ ip: "127.0.0.1", height: 9, isUniknode: false }, 1, 2);
  const lengths = blocks.map((block) => "transactionBytes" in block && block.transactionBytes.length);
  expect(lengths).toEqual([maxTransactions + 1, 2]);
});
