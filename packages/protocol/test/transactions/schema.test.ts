import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  encodeTransaction,
  matchesBatchSchema,
  sealedFromTrustedBytes,
  type TransactionBody,
  type TransactionContext,
  transactionFromBytes,
  transactionFromJson,
  transactionToJson,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import {
  addressOn,
  bodyOf,
  context,
  contextV1,
  participantKeys,
  recipientId,
  testnet,
  transfer,
  transferV1,
} from "./fixtures.ts";

const signature = "ab".repeat(64);
const hash = "cd".repeat(32);
const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => index.toString(16).padStart(2, "0") + signature);

const jsonOf = (body: TransactionBody) => ({
  ...transactionToJson({ ...body, id: hash }),
  ...(!body.signatures && { signature }),
});

/** Verdict on a JSON input, with the pointer of the wrong member. */
function verdict(input: object, where: TransactionContext = context): true | string {
  try {
    transactionFromJson(input, where, { checkSignature: false });
    return true;
  } catch (error) {
    return (error as { violation?: { path: string } }).violation?.path ?? `${error}`;
  }
}

const core = (type: number, changes: Record<string, unknown> = {}) => ({
  ...jsonOf(bodyOf(type, {})),
  ...changes,
});

describe("rules of the core types (transactions.md 8.3)", () => {
  const multiSignature = (min: number, publicKeys: readonly string[], count: number) =>
    core(4, { asset: { multiSignature: { min, publicKeys } }, signatures: entries(count) });
  const payments = (count: number) =>
    core(6, { asset: { payments: Array.from({ length: count }, () => ({ amount: 1, recipientId })) } });
  const lock = (type: unknown, value: unknown, secretHash = hash) =>
    core(8, { amount: 1, recipientId, asset: { lock: { secretHash, expiration: { type, value } } } });

  test.each<[string, object, true | string]>([
    ["a transfer", jsonOf(transfer()), true],
    ["a transfer of nothing", jsonOf(transfer({ amount: 0n })), "/amount"],
    ["an expiration below 0", { ...jsonOf(transfer()), expiration: -1 }, "/expiration"],
    ["a short address", { ...jsonOf(transfer()), recipientId: recipientId.slice(1) }, "/recipientId"],
    ["no signature", { ...jsonOf(transfer()), signature: undefined }, "/signature"],
    ["17 entries", { ...jsonOf(transfer()), signatures: entries(17) }, "/signatures"],
    [
      "an entry twice",
      { ...jsonOf(transfer()), signatures: ["00", "00"].map((i) => i + signature) },
      "/signatures",
    ],
    ["second key", core(1, { asset: { signature: { publicKey: participantKeys[0] } } }), true],
    [
      "a second signature on it",
      core(1, { asset: { signature: { publicKey: participantKeys[0] } }, secondSignature: signature }),
      "/secondSignature",
    ],
    [
      // The decoded form has it under its other name.
      "or under its other name",
      core(1, { asset: { signature: { publicKey: participantKeys[0] } }, signSignature: signature }),
      "/secondSignature",
    ],
    ["20 characters", core(2, { asset: { delegate: { username: "a".repeat(20) } } }), true],
    [
      "21 characters",
      core(2, { asset: { delegate: { username: "a".repeat(21) } } }),
      "/asset/delegate/username",
    ],
    ["an upper-case name", core(2, { asset: { delegate: { username: "A" } } }), "/asset/delegate/username"],
    ["two votes", core(3, { asset: { votes: [0, 0].map(() => `+${participantKeys[0]}`) } }), "/asset/votes"],
    ["a vote with a bar", core(3, { asset: { votes: [`|${participantKeys[0]}`] } }), true],
    [
      "a vote with a recipient",
      core(3, { asset: { votes: [`-${participantKeys[0]}`] }, recipientId: 1 }),
      "/recipientId",
    ],
    ["2 of 3", multiSignature(2, participantKeys, 3), true],
    ["2 of 3 signed twice", multiSignature(2, participantKeys, 2), true],
    ["2 of 3 signed once", multiSignature(2, participantKeys, 1), "/signatures"],
    ["2 of 3 signed four times", multiSignature(2, participantKeys, 4), "/signatures"],
    ["0 of 3", multiSignature(0, participantKeys, 3), "/asset/multiSignature/min"],
    ["4 of 3", multiSignature(4, participantKeys, 3), "/signatures"],
    [
      // Converted to lower case before the comparison.
      "one key in two letter cases",
      multiSignature(
        1,
        [
          present(participantKeys[0], "an item of participantKeys"),
          present(participantKeys[0], "an item of participantKeys").toUpperCase(),
        ],
        2,
      ),
      "/asset/multiSignature/publicKeys",
    ],
    ["ipfs of one character", core(5, { asset: { ipfs: "1" } }), "/asset/ipfs"],
    ["ipfs of two", core(5, { asset: { ipfs: "11" } }), true],
    ["one payment", payments(1), "/asset/payments"],
    ["two payments", payments(2), true],
    ["128 payments", payments(128), true],
    ["129 payments", payments(129), "/type"],
    ["a lock", lock(1, 0), true],
    ["a lock of another kind", lock(3, 0), "/asset/lock/expiration/type"],
    ["a lock of a fraction", lock(1, 0.5), "/asset/lock/expiration/value"],
    ["a short secret hash", lock(1, 0, hash.slice(2)), "/asset/lock/secretHash"],
    [
      "a claim for free",
      core(9, { fee: 0, asset: { claim: { lockTransactionId: hash, unlockSecret: hash } } }),
      true,
    ],
    ["a claim for a fee", core(9, { fee: 1 }), "/fee"],
    ["a refund for free", core(10, { fee: 0, asset: { refund: { lockTransactionId: hash } } }), true],
    ["a refund for a fee", core(10, { fee: 1 }), "/fee"],
  ])("%s", (_, input, expected) => {
    expect(verdict(input)).toBe(expected);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])("The core type %i costs a fee.", (type) => {
    expect(verdict(core(type, { fee: 0, amount: type === 0 || type === 8 ? 1 : 0, recipientId }))).not.toBe(
      true,
    );
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 9, 10])("The core type %i moves no amount.", (type) => {
    expect(verdict(core(type, { amount: 1, asset: {}, signatures: entries(1) }))).toBe("/amount");
  });
});

describe("limits in force", () => {
  const withText = (vendorField: string) => ({
    ...jsonOf(transfer({ network: 23 })),
    vendorField,
    recipientId: addressOn(23),
  });
  const at = (height: number) => ({ network: testnet, height });

  test("The vendorField is bounded in bytes, by the milestone of the last block.", () => {
    expect(verdict(withText("a".repeat(64)), at(99_999))).toBe(true);
    expect(verdict(withText("é".repeat(33)), at(99_999))).toMatch("/vendorField");
    expect(verdict(withText("é".repeat(33)), at(100_000))).toBe(true);
    expect(verdict(withText("é".repeat(128)), at(100_000))).toMatch("/vendorField");
  });

  test.each([null, "", undefined])("A vendorField of %j is refused.", (vendorField) => {
    const { data } = transactionFromJson({ ...jsonOf(transfer()), vendorField }, context);
    expect(data).not.toHaveProperty("vendorField");
  });

  test("The network byte is the configured one.", () => {
    expect(verdict({ ...jsonOf(transfer()), network: 63 })).toBe("/network");
    expect(verdict({ ...jsonOf(transfer()), network: 0 })).toBe("/network");
    const bytes = encodeTransaction(transfer({ network: 0, signature }));
    expect(() => transactionFromBytes(bytes, context)).toThrow(
      expect.objectContaining({ violation: expect.objectContaining({ path: "/network", rule: "network" }) }),
    );
  });

  test("Zero amounts and fees pass in a genesis block only.", () => {
    const genesis = { ...jsonOf(transferV1({ timestamp: 0 })), signature: undefined, signatures: undefined };
    const der = "3006020101020101";
    const zero = { ...genesis, fee: 0, amount: 0, signature: der };
    expect(verdict(zero, contextV1)).toBe(true);
    expect(verdict({ ...zero, timestamp: 1 }, contextV1)).toBe("/amount");
    expect(verdict({ ...zero, id: null }, contextV1)).toBe("/amount");
    expect(verdict({ ...zero, amount: -1 }, contextV1)).toBe("/amount");
  });
});

describe("the cost of a certification", () => {
  const payload = { iss: hash, sub: hash, iat: 1 };
  const certified = (type: number, cost: unknown) => ({
    ...jsonOf(transfer()),
    typeGroup: 2001,
    type,
    asset: {
      nft: { unik: { tokenId: hash, properties: { type: "1" } } },
      demand: { payload: { ...payload, cryptoAccountAddress: recipientId }, signature: "3001ee" },
      certification: { payload: { ...payload, cost }, signature: "3000" },
    },
  });

  test.each([3, 4, 6])(
    "The cost of a certification of type 2001/%i is refused by the schema if it is negative.",
    (type) => {
      const path = "/asset/certification/payload/cost";
      for (const cost of [-1, -1.5, "-5"]) expect(verdict(certified(type, cost)), `${cost}`).toBe(path);
      for (const cost of [0, "0", 5, "5"]) expect(verdict(certified(type, cost)), `${cost}`).toBe(true);
    },
  );

  test("The cost of a certification does not concern a batch: the other items of a body are validated separately.", () => {
    expect(matchesBatchSchema([certified(3, -1), jsonOf(transfer())], context)).toBeUndefined();
  });
});

describe("the check of batches (transactions.md 8.2)", () => {
  const matches = (...items: unknown[]) => matchesBatchSchema(items, context);

  test("Each item of a batch must match some type.", () => {
    expect(matches()).toBeUndefined();
    expect(matches(jsonOf(transfer()), core(7))).toBeUndefined();
    expect(matches(jsonOf(transfer()), null)).toMatchObject({ path: "/1", rule: "anyOf" });
    expect(matches("text", jsonOf(transfer()))).toMatchObject({ path: "/0", rule: "anyOf" });
    expect(matches({ ...jsonOf(transfer()), type: 9_999 })).toMatchObject({ path: "/0", rule: "anyOf" });
  });

  test("A violation is reported for the type of the item.", () => {
    const { recipientId: _, ...unpaid } = jsonOf(transfer()) as Record<string, unknown>;
    expect(matches(jsonOf(transfer()), unpaid)).toMatchObject({ path: "/1/recipientId", rule: "required" });
    expect(matches({ ...jsonOf(transfer()), fee: -1 })).toMatchObject({ path: "/0/fee" });
  });

  test("Items of a batch do not change.", () => {
    const item = { ...jsonOf(transfer()), fee: "7", unknown: 1 };
    const before = structuredClone(item);
    expect(matches(item)).toBeUndefined();
    expect(item).toEqual(before);
  });

  test("Core schemas do not check the group.", () => {
    expect(matches({ ...jsonOf(transfer()), typeGroup: 1_000 })).toBeUndefined();
  });

  describe("an item that lost its group", () => {
    const vectors = ["uns", "nft"].flatMap((group) => {
      const url = new URL(`../../../../test/vectors/crypto/transactions-${group}.json`, import.meta.url);
      return (
        JSON.parse(readFileSync(url, "utf8")) as { cases: { key?: string; input: Record<string, unknown> }[] }
      ).cases;
    });
    const byKey = Object.groupBy(vectors, ({ key = "certified" }) => key);

    // As the old node; each item is then refused as one of group 1 (transactions.md 8.2).
    test.each(Object.entries(byKey))(
      "An item that lost its group passes unless its type requires the group: %s.",
      (key, cases = []) => {
        for (const { input } of cases) {
          const { typeGroup: _, network: _network, ...item } = input;
          const sent = { id: "ab".repeat(32), signature: "ab".repeat(35), ...item };
          expect(matches(sent) === undefined).toBe(!/^Uns(DiscloseExplicit|DelegateRegister)$/.test(key));
        }
      },
    );
  });

  test("Payments within the limit pass as the type of any core transaction.", () => {
    const payments = Array.from({ length: 128 }, () => ({ amount: 0, recipientId }));
    const odd = { ...jsonOf(transfer()), type: 6, asset: { payments } };
    expect(matches(odd)).toBeUndefined();
    expect(matches({ ...odd, asset: { payments: [...payments, payments[0]] } })).toBeDefined();
    expect(verdict(odd)).not.toBe(true);
  });

  test("The legacy registration of a multi-signature wallet passes only a batch.", () => {
    const multiSignatureLegacy = { min: 2, lifetime: 24, keysgroup: participantKeys.map((key) => `+${key}`) };
    const { nonce: _nonce, ...legacy } = core(4, {
      version: 1,
      timestamp: 5,
      asset: { multiSignatureLegacy },
    }) as Record<string, unknown>;
    expect(matches(legacy)).toBeUndefined();
    expect(verdict(legacy)).not.toBe(true);
  });

  test("Members that the schema removes are not in the bytes either.", () => {
    const extra = { ...core(7), vendorField: "x", recipientId, expiration: 5, asset: { votes: [] } };
    const { bytes, data } = transactionFromJson(extra, context);
    expect(sealedFromTrustedBytes(bytes).data).toEqual(data);
    expect(Object.keys(data)).not.toContain("vendorField");
  });
});
