/** A block as a value and as bytes: the same checks, the same outcome, and no second decoding. */

import {
  type Block,
  type BlockParts,
  blockFromBytes,
  blockToPeerJson,
  bytesOfBlock,
  createNetwork,
  decodeHeader,
  type EncodedBlock,
  encodeHeader,
  encodeTransaction,
  forgeBlock,
  hexToBytes,
  keysFromPassphrase,
  type SealedTransaction,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Chain } from "../../src/chain/chain.ts";
import { type BlockInput, receiveBlock } from "../../src/chain/pipeline/receive.ts";
import { encodedHeaderFromPeer } from "../../src/peers/peer-table.ts";
import { present } from "../../src/platform/present.ts";
import {
  blocksOf,
  CHAINS,
  dumpOf,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { createForkingChain } from "../../test-support/chain/forking.ts";

/** Calls of the node into the codec of blocks. The codec itself is tested elsewhere. */
const calls = vi.hoisted(() => ({ read: 0, write: 0 }));

vi.mock("@uniknode/protocol", async (original) => {
  const protocol = await original<typeof import("@uniknode/protocol")>();
  const counted =
    <A extends unknown[], R>(kind: keyof typeof calls, run: (...given: A) => R) =>
    (...given: A): R => {
      calls[kind]++;
      return run(...given);
    };
  return {
    ...protocol,
    blockFromBytes: counted("read", protocol.blockFromBytes),
    blockFromBytesGradually: counted("read", protocol.blockFromBytesGradually),
    blockFromPartsGradually: counted("read", protocol.blockFromPartsGradually),
    blockFromTrustedBytes: counted("read", protocol.blockFromTrustedBytes),
    decodeHeader: counted("read", protocol.decodeHeader),
    transactionFromBytes: counted("read", protocol.transactionFromBytes),
    encodeBlock: counted("write", protocol.encodeBlock),
    encodeFrame: counted("write", protocol.encodeFrame),
    encodeHeader: counted("write", protocol.encodeHeader),
    encodeUnsignedHeader: counted("write", protocol.encodeUnsignedHeader),
    encodeTransaction: counted("write", protocol.encodeTransaction),
  };
});

const close: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
});

async function counting<T>(run: () => T): Promise<{ result: Awaited<T>; counts: typeof calls }> {
  Object.assign(calls, { read: 0, write: 0 });
  const result = await run();
  return { result, counts: { ...calls } };
}

/** Format of old nodes: the header separate, and each transaction in bytes. */
function partsOf({ header, headerBytes, transactions }: EncodedBlock): BlockParts {
  return { header, headerBytes, transactionBytes: transactions.map(({ bytes }) => bytes) };
}

function open(content: ReturnType<typeof readChain>): OpenChain {
  const folder = temporaryFolder();
  const opened = openChain(content, `${folder.path}/chain.sqlite`);
  close.push(opened.close, folder.remove);
  return opened;
}

const content = readChain("chain-1");
const network = createNetwork(content.network);
const blocks = blocksOf(content);
/** Index of a block with transactions of version 2. */
const FULL = 5;

/** Format of a forger: verified transactions, without a record of the rules by which they were read. */
function heldBlock(bytes: Uint8Array, height: number, of = network): EncodedBlock {
  const block = blockFromBytes(bytes, { network: of, height: height - 1 }, { checkSignature: false });
  return withHeaderBytes({
    ...block,
    transactions: block.transactions.map((transaction) => ({ ...transaction, isVerified: true })),
  });

  function withHeaderBytes(value: Block): EncodedBlock {
    return { ...value, headerBytes: encodeHeader(value.header, of) };
  }
}

describe("a block as a value has the outcome of its bytes", () => {
  test.each(CHAINS.slice(0, 2))(
    "A block as a value has the outcome of its bytes for every block of %s, with the same database in the end.",
    async (name) => {
      const chain = readChain(name);
      const of = createNetwork(chain.network);
      const [asBytes, asValues, asRead, asParts] = [open(chain), open(chain), open(chain), open(chain)];
      const all = blocksOf(chain);
      const outcomes = await asBytes.chain.accept(all);
      expect(await asValues.chain.accept(all.map((bytes, index) => heldBlock(bytes, index + 2, of)))).toEqual(
        outcomes,
      );
      expect(await asRead.chain.accept(all.map((bytes) => receiveBlock(bytes, of)))).toEqual(outcomes);
      const values = all.map((bytes, index) => heldBlock(bytes, index + 2, of));
      expect(await asParts.chain.accept(values.map(partsOf))).toEqual(outcomes);
      expect(outcomes.every(({ kind }) => kind === "Accepted")).toBe(true);
      expect(dumpOf(asParts.database)).toEqual(dumpOf(asBytes.database));
      expect(dumpOf(asValues.database)).toEqual(dumpOf(asBytes.database));
      expect(dumpOf(asRead.database)).toEqual(dumpOf(asBytes.database));
    },
  );

  const whole = () => heldBlock(present(blocks[FULL], "an item of blocks"), FULL + 2);
  const changed = (changes: Partial<Block["header"]>): EncodedBlock => {
    const made = whole();
    const headerBytes = encodeHeader({ ...made.header, ...changes }, network);
    return { ...made, header: decodeHeader(headerBytes, network).header, headerBytes };
  };
  const forgedBy = (passphrase: string, transactions = whole().transactions): EncodedBlock => {
    const { header } = whole();
    const previous = { id: header.previousBlock, height: header.height - 1 };
    return forgeBlock(
      { network, timestamp: header.timestamp, previous, transactions },
      keysFromPassphrase(passphrase),
    );
  };

  test.each([
    ["is valid", whole],
    ["has a reward other than the milestone's", () => changed({ reward: 1n })],
    ["has a reward beyond the range of numbers", () => changed({ reward: 2n ** 63n })],
    ["announces more transactions than a block may have", () => changed({ numberOfTransactions: 100_000 })],
    ["announces fewer transactions than it has", () => changed({ numberOfTransactions: 0 })],
    ["has another height", () => changed({ height: FULL + 3 })],
    ["has the payload hash of other transactions", () => changed({ payloadHash: "ab".repeat(32) })],
    ["is signed by another key", () => forgedBy("another delegate")],
    [
      "has a transaction that its sender did not sign",
      () => forgedBy("another delegate", whole().transactions.map(altered)),
    ],
    [
      "has a transaction of an inactive version",
      () => forgedBy("another delegate", heldBlock(present(blocks[0], "an item of blocks"), 2).transactions),
    ],
  ])("A block as a value has the outcome of its bytes if it %s.", async (_, make) => {
    const outcomes = await Promise.all(
      [make(), receivedOr(make()), bytesOfBlock(make()), partsOf(make())].map(async (input) => {
        const { chain } = open(content);
        await chain.accept(blocks.slice(0, FULL));
        return outcomeOf(chain, input);
      }),
    );
    const { header, transactions } = make();
    // A header that miscounts: the bytes contain other transactions than the value, and both are refused.
    if (header.numberOfTransactions !== transactions.length) {
      expect(outcomes[0]?.kind).toBe(present(outcomes[2], "an item of outcomes").kind);
      expect(present(outcomes[0], "an item of outcomes").kind).not.toBe("Accepted");
      expect(outcomes[3]?.kind).toBe("Unreadable");
    } else {
      expect(outcomes[0]).toEqual(outcomes[2]);
      expect(outcomes[3]).toEqual(outcomes[2]);
    }
    expect(outcomes[1]).toEqual(outcomes[2]);
  });

  /** Result of the peer server's decoder; undecodable blocks stay bytes. */
  function receivedOr(made: EncodedBlock): BlockInput {
    try {
      return receiveBlock(bytesOfBlock(made), network);
    } catch {
      return bytesOfBlock(made);
    }
  }

  async function outcomeOf(chain: Chain, input: BlockInput) {
    const outcome = present((await chain.accept([input]))[0], "the outcome");
    return { ...outcome, ...("cause" in outcome && { cause: String(outcome.cause) }) };
  }
});

/** Another fee with the same signature. */
function altered({ data }: SealedTransaction): SealedTransaction {
  return sealedFromTrustedBytes(encodeTransaction({ ...data, fee: data.fee + 1n }));
}

test("A forged block is neither encoded nor decoded on its way to the disk and to peers.", async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const own = createForkingChain(`${folder.path}/chain.sqlite`);
  // Version 2 is in force above the second block.
  await own.forge();
  const block = own.make([own.transfer(0, 5n), own.transfer(1, 6n)]);
  const { result, counts } = await counting(async () => {
    const outcomes = await own.chain.accept([block]);
    bytesOfBlock(block);
    return outcomes;
  });
  expect(result).toEqual([{ kind: "Accepted" }]);
  expect(counts).toEqual({ read: 0, write: 0 });
  expect(own.chain.blocks.header(block.header.height)).toEqual(block.header);
});

test("A posted block is decoded by its reader, and not again by the chain.", async () => {
  const { chain } = open(content);
  await chain.accept(blocks.slice(0, FULL));
  const read = await counting(() => receiveBlock(present(blocks[FULL], "an item of blocks"), network));
  expect(read.counts).toEqual({ read: 1, write: 0 });
  const taken = await counting(() => chain.accept([read.result]));
  expect(taken.result).toEqual([{ kind: "Accepted" }]);
  expect(taken.counts).toEqual({ read: 0, write: 0 });
});

test("A block of an old node has its header encoded and decoded once, and its transactions decoded once.", async () => {
  const { chain } = open(content);
  await chain.accept(blocks.slice(0, FULL));
  const { transactions = [], ...header } = blockToPeerJson(
    heldBlock(present(blocks[FULL], "an item of blocks"), FULL + 2),
  );
  const fetched = await counting(() => ({
    ...encodedHeaderFromPeer(header, network),
    transactionBytes: transactions.map(hexToBytes),
  }));
  expect(fetched.counts).toEqual({ read: 1, write: 1 });
  const taken = await counting(() => chain.accept([fetched.result]));
  expect(taken.result).toEqual([{ kind: "Accepted" }]);
  expect(taken.counts).toEqual({ read: 1, write: 0 });
});

test("Serialized blocks are decoded once by the chain.", async () => {
  const { chain } = open(content);
  const { counts } = await counting(() => chain.accept(blocks.slice(0, FULL)));
  expect(counts).toEqual({ read: FULL, write: 0 });
});
