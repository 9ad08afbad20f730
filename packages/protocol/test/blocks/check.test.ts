import { describe, expect, test } from "vitest";
import { signHeader } from "../../src/blocks/check.ts";
import {
  type Block,
  type BlockHeader,
  blockByteLength,
  bytesToHex,
  checkBlock,
  containsMultiSignatures,
  createNetwork,
  createSlots,
  encodeBlock,
  forgeBlock,
  headerSignatureJob,
  keysFromPassphrase,
  presets,
  type SealedTransaction,
  sha256,
  type Transaction,
  utf8ToBytes,
  verifyHeaderJob,
} from "../../src/index.ts";

const network = createNetwork(presets.livenet);
const slots = createSlots(network);
const keys = keysFromPassphrase("generator");
const timestamp = 100_000_000;
const now = slots.unixMsOf(timestamp);
const previous = { id: "ab".repeat(32), height: 999 };

/** Transfer as a parser returns it. */
function transfer(name: string, data: Partial<Transaction> = {}, isVerified = true): SealedTransaction {
  const bytes = utf8ToBytes(name);
  return {
    data: {
      version: 2,
      network: 68,
      typeGroup: 1,
      type: 0,
      nonce: 1n,
      senderPublicKey: "02".repeat(33),
      fee: 10n,
      amount: 3n,
      expiration: 0,
      id: bytesToHex(sha256(bytes)),
      ...data,
    },
    bytes,
    isVerified,
  };
}

const forge = (...transactions: SealedTransaction[]): Block =>
  forgeBlock({ network, timestamp, previous, transactions }, keys);

/** Block with another header, signed again. */
function altered(block: Block, members: Partial<BlockHeader>): Block {
  const header = { ...block.header, ...members };
  const blockSignature = signHeader(header, keys.privateKey, network);
  return { ...block, header: { ...header, blockSignature } };
}

const codesOf = (block: Block, options: Partial<Parameters<typeof checkBlock>[1]> = {}) =>
  checkBlock(block, { network, now, ...options }).map(({ code }) => code);

describe("the stateless check", () => {
  test("The stateless check finds no error in a forged block.", () => {
    for (const transactions of [[], [transfer("a")], [transfer("a"), transfer("b")]]) {
      expect(codesOf(forge(...transactions))).toEqual([]);
    }
  });

  test("The length limit applies to the serialization.", () => {
    const block = forge(transfer("a"), transfer("longer"));
    expect(blockByteLength(block)).toBe(encodeBlock(block, network).length);
  });

  test.each([
    ["reward", { reward: 200000001n }],
    ["version", { version: 1 }],
    ["total-amount", { totalAmount: 1n }],
    ["total-fee", { totalFee: 1n }],
    ["payload-hash", { payloadHash: "00".repeat(32) }],
    ["transaction-count", { numberOfTransactions: 2 }],
    ["previous-block", { previousBlock: "" }],
  ] satisfies [string, Partial<BlockHeader>][])("%s", (code, members) => {
    const block = forge(transfer("a"));
    const wrong = { ...block, header: { ...block.header, ...members } };
    expect(codesOf(wrong, { headerSignature: "valid" })).toEqual([code]);
  });

  test("The payload length is not checked (trap A18).", () => {
    expect(codesOf(altered(forge(transfer("a")), { payloadLength: 7 }))).toEqual([]);
  });

  test("A future slot is refused, the current one is not.", () => {
    const { blocktime } = slots;
    expect(codesOf(altered(forge(), { timestamp: timestamp + blocktime - 1 }))).toEqual([]);
    expect(codesOf(altered(forge(), { timestamp: timestamp + blocktime }))).toEqual(["timestamp"]);
  });

  test("The milestone is that of the block's own height.", () => {
    const at = (height: number) =>
      forgeBlock(
        { network, timestamp, previous: { id: previous.id, height: height - 1 }, transactions: [] },
        keys,
      );
    expect(at(5894968).header.reward).toBe(200000000n);
    expect(at(5894969).header.reward).toBe(100000000n);
    expect(codesOf(altered(at(5894969), { reward: 200000000n }))).toEqual(["reward"]);
  });

  test("The stateless check refuses a block beyond the limits of size and number.", () => {
    const network = createNetwork({
      ...presets.livenet,
      milestones: [
        ...presets.livenet.milestones,
        { height: 500, block: { maxTransactions: 1, maxPayload: 400 } },
      ],
    });
    const block = forge(transfer("a"), transfer("b".repeat(400)));
    expect(codesOf(block, { network })).toEqual(["payload-size", "too-many-transactions"]);
    const exact = createNetwork({
      ...presets.livenet,
      milestones: [
        ...presets.livenet.milestones,
        { height: 500, block: { maxTransactions: 2, maxPayload: blockByteLength(block) } },
      ],
    });
    expect(codesOf(block, { network: exact })).toEqual([]);
  });

  test("Errors of transactions name them, and a repetition is counted each time.", () => {
    const [a, expired] = [transfer("a"), transfer("e", { expiration: 1000 })];
    const faults = checkBlock(forge(a, expired, a, a, transfer("f", { expiration: 1001 })), { network, now });
    expect(faults).toEqual([
      { code: "expired-transaction", transactionId: expired.data.id, sequence: 1 },
      { code: "duplicate-transaction", transactionId: a.data.id, sequence: 2 },
      { code: "duplicate-transaction", transactionId: a.data.id, sequence: 3 },
    ]);
  });

  test("Unverified transactions are reported together and one by one, with or without multisignatures.", () => {
    const block = forge(transfer("a", {}, false), transfer("b"), transfer("c", {}, false));
    expect(codesOf(block)).toEqual([
      "unverified-transactions",
      "unverified-transaction",
      "unverified-transaction",
    ]);
    expect(containsMultiSignatures(block)).toBe(false);
    const signatures = { signatures: ["00"] };
    expect(containsMultiSignatures(forge(transfer("a", signatures, false)))).toBe(true);
    // A verified one is not checked again.
    expect(containsMultiSignatures(forge(transfer("a", signatures, true)))).toBe(false);
  });

  test.each([
    [timestamp + 3600 + 8, []],
    [timestamp + 3600 + 9, ["future-transaction"]],
    [timestamp - 21600, []],
    [timestamp - 21601, ["expired-transaction"]],
  ])("A version 1 transaction of time %i gets the errors %j.", (time, expected) => {
    const block = forge(transfer("a", { version: 1, timestamp: time }));
    expect(codesOf(block)).toEqual(expected);
    const lenient = createNetwork({
      ...presets.livenet,
      milestones: [
        ...presets.livenet.milestones,
        { height: 500, block: { acceptExpiredTransactionTimestamps: true } },
      ],
    });
    expect(codesOf(block, { network: lenient })).toEqual([]);
  });

  test("Expiration is waived on a network called devnet only.", () => {
    const block = forge(transfer("a", { expiration: 5 }));
    const { network: description, milestones } = presets.livenet;
    const waiving = [...milestones, { height: 500, ignoreExpiredTransactions: true }];
    const named = (name: string) =>
      createNetwork({ network: { ...description, name }, milestones: waiving, exceptions: {} });
    expect(codesOf(block, { network: named("devnet") })).toEqual([]);
    expect(codesOf(block, { network: named("livenet") })).toEqual(["expired-transaction"]);
  });

  test("A block at height 1 has neither a parent nor a limit of number.", () => {
    const one = createNetwork({
      ...presets.livenet,
      milestones: presets.livenet.milestones.map((change) =>
        change.height === 1
          ? { ...change, block: { version: 0, maxTransactions: 1, maxPayload: 9999 } }
          : change,
      ),
    });
    const transactions = [transfer("a"), transfer("b")];
    const draft = { network: one, timestamp: 0, previous: { id: "", height: 0 }, transactions };
    expect(codesOf(forgeBlock(draft, keys), { network: one })).toEqual([]);
  });
});

describe("the generator's signature", () => {
  const block = forge();
  const signedWith = (blockSignature: string): Block => ({
    ...block,
    header: { ...block.header, blockSignature },
  });

  test("The generator's signature has errors for another key, a high s and a changed header.", () => {
    const other = signHeader(block.header, keysFromPassphrase("other").privateKey, network);
    expect(codesOf(signedWith(other))).toEqual(["signature"]);
    const { header } = block;
    expect(codesOf({ ...block, header: { ...header, timestamp: header.timestamp - 8 } })).toEqual([
      "signature",
    ]);
  });

  test("An unreadable signature ends the check.", () => {
    const unreadable = signedWith(block.header.blockSignature.replace(/^30/, "31"));
    const wrong = { ...unreadable, header: { ...unreadable.header, reward: 1n, version: 5 } };
    expect(codesOf(wrong)).toEqual(["reward", "exception"]);
  });

  test("The verdict of the generator's signature can be passed in.", () => {
    const job = headerSignatureJob(block.header, network);
    expect(job.hash).toHaveLength(32);
    expect(verifyHeaderJob(structuredClone(job))).toBe("valid");
    expect(codesOf(block, { headerSignature: "invalid" })).toEqual(["signature"]);
    expect(codesOf(signedWith("30"), { headerSignature: "valid" })).toEqual([]);
  });
});
