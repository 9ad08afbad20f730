import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Block,
  BlockError,
  type BlockHeader,
  blockFromBytes,
  blockFromJson,
  blockFromPeerJson,
  blockFromTrustedBytes,
  blockToJson,
  blockToPeerJson,
  bytesOfBlock,
  checkBlock,
  createNetwork,
  createSlots,
  decodeHeader,
  type EncodedBlock,
  type Exceptions,
  encodeBlock,
  encodeHeader,
  forgeBlock,
  headerSignatureJob,
  keysFromPassphrase,
  presets,
  recheckBlock,
  signatureJob,
  TransactionError,
  verifyHeaderJob,
  verifyJob,
  withVerdicts,
} from "../../src/index.ts";
import { transfer } from "./fixtures.ts";

const network = createNetwork(presets.livenet);
const context = { network, height: 999 };
const keys = keysFromPassphrase("generator");
const timestamp = 100_000_000;
const now = createSlots(network).unixMsOf(timestamp);

const forgeEncoded = (transactions: Block["transactions"]): EncodedBlock => {
  const previous = { id: "ab".repeat(32), height: 999 };
  return forgeBlock({ network, timestamp, previous, transactions }, keys);
};
const forge = (transactions: Block["transactions"]): Block => {
  const { header } = forgeEncoded(transactions);
  return { header, transactions };
};

const empty = forge([]);
const block = forge([transfer(network, 1n), transfer(network, 2n)]);
const json = blockToJson(block) as Record<string, unknown> & { transactions: Record<string, unknown>[] };

const withCode = (code: string, members = {}) => expect.objectContaining({ code, ...members });

describe("a block", () => {
  test.each([
    ["without transactions", empty],
    ["with transactions", block],
  ])("%s is read from each of its forms", (_, expected) => {
    const bytes = encodeBlock(expected, network);
    expect(blockFromBytes(bytes, context)).toEqual(expected);
    expect(blockFromTrustedBytes(bytes, network)).toEqual(expected);
    expect(blockFromJson(blockToJson(expected), context)).toEqual(expected);
    expect(blockFromJson(JSON.parse(JSON.stringify(blockToJson(expected))), context)).toEqual(expected);
    expect(blockFromPeerJson(blockToPeerJson(expected), context)).toEqual(expected);
  });

  test.each([
    ["with full ids", network, "ab".repeat(32)],
    ["with partial ids", createNetwork(presets.unitnet), "1234567890123456789"],
  ])("A block that was forged has the header of its bytes, %s.", (_, network, id) => {
    const previous = { id, height: 999 };
    const forged = forgeBlock({ network, timestamp, previous, transactions: block.transactions }, keys);
    expect(forged.headerBytes).toEqual(encodeHeader(forged.header, network));
    expect(forged.header).toEqual(decodeHeader(forged.headerBytes, network).header);
    expect(bytesOfBlock(forged)).toEqual(encodeBlock(forged, network));
  });

  test("A block is read only up to its header if that is refused.", () => {
    const bytes = encodeBlock(block, network);
    const read: number[] = [];
    const checkHeader = ({ numberOfTransactions }: BlockHeader) => {
      read.push(numberOfTransactions);
      throw new RangeError("too many");
    };
    // The last transaction could not be read.
    const broken = bytes.subarray(0, bytes.length - 1);
    expect(() => blockFromBytes(broken, context, { checkHeader })).toThrow(new RangeError("too many"));
    expect(read).toEqual([2]);
  });

  test("A block of stored bytes can have a stored id, as the genesis block does.", () => {
    const { header } = blockFromTrustedBytes(encodeBlock(empty, network), network, "256");
    expect(header).toEqual({ ...empty.header, id: "256", idHex: "0000000000000100" });
  });

  test("A block is read from an object that does not change.", () => {
    const before = structuredClone(json);
    blockFromJson(json, context);
    expect(json).toEqual(before);
  });
});

describe("a block object", () => {
  const long = "9".repeat(19);

  test.each([
    ["id", undefined],
    ["id", "123"],
    ["id", 5],
    ["id", { toString: 1 }],
    ["idHex", "zz"],
    ["version", undefined],
    ["version", "0"],
    ["version", -1],
    ["version", 0.5],
    ["timestamp", undefined],
    ["timestamp", null],
    ["previousBlock", undefined],
    ["previousBlock", null],
    ["previousBlock", "123"],
    ["previousBlockHex", "12"],
    ["height", undefined],
    ["height", 0],
    ["height", 1.5],
    ["height", "1000"],
    ["totalAmount", undefined],
    ["totalAmount", "-1"],
    ["totalAmount", "1.0"],
    ["totalAmount", 2 ** 53],
    ["totalAmount", (2n ** 63n).toString()],
    ["totalAmount", long.repeat(1000)],
    ["totalFee", null],
    ["totalFee", {}],
    ["reward", ""],
    ["reward", long],
    ["payloadLength", undefined],
    ["payloadLength", 2 ** 31],
    ["payloadHash", ""],
    ["payloadHash", "xy"],
    ["generatorPublicKey", "02"],
    ["blockSignature", undefined],
    ["blockSignature", ""],
    ["transactions", undefined],
    ["transactions", {}],
    ["numberOfTransactions", null],
    ["numberOfTransactions", "2"],
    ["numberOfTransactions", -2],
  ])("A block object with %s %j is refused.", (member, value) => {
    expect(() => blockFromJson({ ...json, [member]: value }, context)).toThrow(
      withCode("BlockSchemaError", { path: `.${member}`, isRetryable: false }),
    );
  });

  test.each([1, 3, 0])(
    "A block object announcing %i of two transactions is refused.",
    (numberOfTransactions) => {
      expect(() => blockFromJson({ ...json, numberOfTransactions }, context)).toThrow(
        withCode("BlockSchemaError", { path: ".transactions" }),
      );
    },
  );

  test("A block object can omit the number of transactions, and have unknown members.", () => {
    const { numberOfTransactions: _, ...rest } = json;
    expect(blockFromJson({ ...rest, unknown: 1 }, context)).toEqual(block);
  });

  test("A block object can have hexadecimal in capitals and amounts as numbers.", () => {
    const { header } = block;
    const capitals = {
      previousBlock: header.previousBlock.toUpperCase(),
      payloadHash: header.payloadHash.toUpperCase(),
      generatorPublicKey: header.generatorPublicKey.toUpperCase(),
      blockSignature: header.blockSignature.toUpperCase(),
      totalFee: Number(header.totalFee),
      id: "cd".repeat(32),
    };
    expect(blockFromJson({ ...json, ...capitals }, context)).toEqual(block);
  });

  test.each([null, undefined, 5, "text", []])("A block object that is %j is refused.", (input) => {
    expect(() => blockFromJson(input, context)).toThrow(withCode("BlockSchemaError"));
    expect(() => blockFromPeerJson(input, context)).toThrow(withCode("BlockSchemaError"));
  });

  test.each([null, 5, {}, { type: 0 }, { id: { toString: 1 } }])(
    "A block object with a transaction %j is refused.",
    (item) => {
      const transactions = [json.transactions[0], item];
      expect(() => blockFromJson({ ...json, transactions }, context)).toThrow(
        withCode("BlockSchemaError", { path: ".transactions[1]" }),
      );
    },
  );

  test("A block object is read as its bytes: data after the signature of an empty block is ignored.", () => {
    const blockSignature = `${empty.header.blockSignature}00`;
    expect(blockFromJson({ ...blockToJson(empty), blockSignature }, context)).toEqual(empty);
  });

  test("A block object whose payload hash is too short is another, invalid block.", () => {
    const read = blockFromJson({ ...blockToJson(empty), payloadHash: "00".repeat(31) }, context);
    expect(checkBlock(read, { network, now }).map(({ code }) => code)).toEqual(["exception"]);
  });

  test.each([
    ["payloadHash", "000"],
    ["blockSignature", "30"],
    ["blockSignature", "3044"],
  ])("A block object whose bytes cannot be read is refused: %s %s.", (member, value) => {
    expect(() => blockFromJson({ ...blockToJson(empty), [member]: value }, context)).toThrow(
      withCode("INVALID_BLOCK_BYTES"),
    );
  });

  test("A block object follows the transaction rules of the context's height.", () => {
    expect(() => blockFromJson(json, { network, height: 1 })).toThrow(withCode("TransactionVersionError"));
    expect(() => blockFromPeerJson(blockToPeerJson(block), { network, height: 1 })).toThrow(
      withCode("TransactionVersionError"),
    );
  });

  test.each(["", "zz", "0", 5, null])(
    "A block object of a peer with a transaction %j is refused.",
    (item) => {
      const peer = { ...blockToPeerJson(block), transactions: [item, item] };
      expect(() => blockFromPeerJson(peer, context)).toThrow(
        withCode("BlockSchemaError", { path: ".transactions[0]" }),
      );
    },
  );

  test("A block object of a peer announcing missing transactions is refused.", () => {
    const { transactions: _, ...peer } = blockToPeerJson(block);
    expect(() => blockFromPeerJson(peer, context)).toThrow(
      withCode("BlockSchemaError", { path: ".transactions" }),
    );
  });
});

describe("listed exceptions", () => {
  const on = (exceptions: Exceptions) => ({
    network: createNetwork({ ...presets.livenet, exceptions }),
    height: 999,
  });
  const tooMuch = { ...json, totalAmount: (2n ** 63n).toString() };

  test("A listed block can violate the schema.", () => {
    const read = blockFromJson(tooMuch, on({ blocks: [String(json.id)] }));
    expect(read.header.totalAmount).toBe(2n ** 63n);
    const bytes = encodeBlock(read, network);
    expect(() => blockFromBytes(bytes, context)).toThrow(
      withCode("BlockSchemaError", { path: ".totalAmount" }),
    );
    expect(blockFromBytes(bytes, on({ blocks: [read.header.id] }))).toEqual(read);
  });

  test("Values that bytes cannot express are still refused in a listed block.", () => {
    const exceptional = on({ blocks: [String(json.id)] });
    for (const totalAmount of [undefined, null, {}, "1.5"]) {
      expect(() => blockFromJson({ ...json, totalAmount }, exceptional)).toThrow(
        withCode("INVALID_BLOCK_BYTES"),
      );
    }
  });

  test("A listed transaction can violate the schema inside any block, and counts as verified.", () => {
    const free = transfer(network, 5n, { nonce: 5n, fee: 0n });
    const listed = on({ transactions: [free.data.id] });
    const blockOfIt = forge([free]);
    expect(blockFromJson(blockToJson(blockOfIt), listed)).toEqual(blockOfIt);
    expect(() => blockFromJson(blockToJson(blockOfIt), context)).toThrow(
      withCode("BlockSchemaError", { path: ".transactions[0]" }),
    );
  });
});

describe("signatures", () => {
  const bytes = encodeBlock(block, network);
  const isSigned = (transaction: Block["transactions"][number]): boolean => {
    // Messages to another thread.
    const job = structuredClone(signatureJob(transaction, context));
    return typeof job === "boolean" ? job : verifyJob(job);
  };

  test("Signatures can be verified apart from parsing.", () => {
    const parsed = blockFromBytes(bytes, context, { checkSignature: false });
    expect(parsed.transactions.map(({ isVerified }) => isVerified)).toEqual([false, false]);
    const header = verifyHeaderJob(structuredClone(headerSignatureJob(parsed.header, network)));
    const verdicts = structuredClone({ header, transactions: parsed.transactions.map(isSigned) });
    expect(verdicts).toEqual({ header: "valid", transactions: [true, true] });
    const verified = withVerdicts(parsed, verdicts);
    expect(verified).toEqual(block);
    expect(checkBlock(verified, { network, now, headerSignature: verdicts.header })).toEqual([]);
  });

  test("A wrong signature is found either way.", () => {
    const wrong = forge([
      transfer(network, 1n, { nonce: 1n, senderPublicKey: block.header.generatorPublicKey }),
    ]);
    const read = blockFromBytes(encodeBlock(wrong, network), context);
    const codes = ["unverified-transactions", "unverified-transaction"];
    expect(checkBlock(read, { network, now }).map(({ code }) => code)).toEqual(codes);
    expect(wrong.transactions.map(isSigned)).toEqual([false]);
  });
});

describe("untrusted input", () => {
  /** Reads, and accepts only the errors of the contract. */
  const read = (action: () => Block): Block | undefined => {
    try {
      return action();
    } catch (error) {
      if (error instanceof BlockError || error instanceof TransactionError) return undefined;
      throw error;
    }
  };
  const bytes = encodeBlock(block, network);
  const options = { checkSignature: false };

  test("Property: altered bytes are a block or a typed error.", () => {
    const edits = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(edits, fc.nat(bytes.length), (changes, length) => {
        const changed = bytes.slice();
        for (const [at, byte] of changes) changed[at] = byte;
        for (const input of [changed, changed.subarray(0, length)]) {
          const found = read(() => blockFromBytes(input, context, options));
          // A readable block can be written, and is then canonical.
          if (!found || found.transactions.length !== found.header.numberOfTransactions) continue;
          const again = blockFromBytes(encodeBlock(found, network), context, options);
          expect(again).toEqual(found);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("Property: an altered object is a block or a typed error.", () => {
    const member = fc.constantFrom(...Object.keys(json), "transactions.0");
    fc.assert(
      fc.property(member, fc.jsonValue(), (name, value) => {
        const input = { ...json, [name]: value };
        if (name === "transactions.0") input.transactions = [value, json.transactions[1]] as never;
        read(() => blockFromJson(input, context, options));
        read(() => blockFromPeerJson({ ...blockToPeerJson(block), [name]: value }, context, options));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a block that was created from values", () => {
  const read = <T>(way: () => T): T | object => {
    try {
      return way();
    } catch (error) {
      const { name, code, message } = error as BlockError;
      return { name, code, message };
    }
  };
  const unverified = { checkSignature: false };

  test.each([
    ["without transactions", forgeEncoded([])],
    ["with transactions", forgeEncoded(block.transactions)],
    ["with an impossible reward", withHeader({ reward: 2n ** 63n })],
  ])("%s is checked like its bytes", (_, made) => {
    const bytes = bytesOfBlock(made);
    const found = read(() => {
      const { header, transactions } = recheckBlock(made, context);
      return { header, transactions };
    });
    expect(found).toEqual(read(() => blockFromBytes(bytes, context, unverified)));
  });

  test("A block that was created from values is refused if its transactions follow other rules than those in force.", () => {
    const made = forgeEncoded(block.transactions);
    const old = { network, height: 1 };
    const refusal = read(() => recheckBlock(made, old));
    expect(refusal).toMatchObject({ code: "TransactionVersionError" });
    expect(refusal).toEqual(read(() => blockFromBytes(bytesOfBlock(made), old, unverified)));
  });

  function withHeader(changes: Partial<BlockHeader>): EncodedBlock {
    const made = forgeEncoded(block.transactions);
    const headerBytes = encodeHeader({ ...made.header, ...changes }, network);
    return { ...made, header: decodeHeader(headerBytes, network).header, headerBytes };
  }
});
