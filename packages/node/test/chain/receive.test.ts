/** Blocks are decoded in steps of a few transactions, after the number that they announce is checked. */
import { BlockError, type BlockParts, builders, encodeHeader, joinBlock } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BlockInput, receiveGradually } from "../../src/chain/pipeline/receive.ts";
import { seal } from "../../src/dev-chain/network.ts";
import { network, openTestChain, range, rich, type TestChain } from "../../test-support/peers/chains.ts";

let own: TestChain;
beforeAll(async () => {
  own = openTestChain();
  await own.forge(...range(100, 103));
});
afterAll(() => own.close());

const { publicKey: senderPublicKey, address: recipientId } = rich;
const payments = Array.from({ length: 128 }, () => ({ recipientId, amount: 1n }));
const payment = seal(builders.multiPayment({ network, senderPublicKey, nonce: 1n, payments }), rich);

/** A block in both forms, with a header for `announced` transactions. */
function blocksOf(announced: number, transactionBytes: readonly Uint8Array[]): [Uint8Array, BlockParts] {
  const header = { ...own.make(106).header, numberOfTransactions: announced };
  const headerBytes = encodeHeader(header, network);
  return [joinBlock(headerBytes, transactionBytes), { header, headerBytes, transactionBytes }];
}

function stepsOf(input: BlockInput): number {
  const steps = receiveGradually(input, network);
  let count = 1;
  while (!steps.next().done) count++;
  return count;
}

test("A step reads about 8 KiB of transactions.", () => {
  const { length } = payment.bytes;
  expect(length).toBeGreaterThan(3_000);
  for (const block of blocksOf(60, Array(60).fill(payment.bytes))) expect(stepsOf(block)).toBe(20);
  for (const block of blocksOf(3, Array(3).fill(payment.bytes))) expect(stepsOf(block)).toBe(1);
  for (const block of blocksOf(0, [])) expect(stepsOf(block)).toBe(1);
});

test("No transaction is read of a block that announces too many.", () => {
  const { maxTransactions } = network.milestoneAt(6).block;
  const unreadable = Uint8Array.of(1);
  for (const block of blocksOf(maxTransactions + 1, Array(maxTransactions + 1).fill(unreadable))) {
    expect(() => stepsOf(block)).toThrow(BlockError);
    expect(() => stepsOf(block)).toThrow(`the limit is ${maxTransactions}`);
  }
});
