import { describe, expect, test } from "vitest";
import { readOrder, readTerms } from "../../src/screens/send/read-order.ts";
import { MAX_CHARACTERS, readSigned } from "../../src/screens/send/signed-json.ts";
import { commandOf, programOf } from "../../src/signing/order-as-code.ts";
import { fieldOf } from "../../src/signing/post.ts";

const unik = "ab".repeat(32);
const key = `02${"ab".repeat(32)}`;

describe("Input of the form", () => {
  test("Input of the form becomes an order when it is complete.", () => {
    expect(readOrder("transfer", { to: " D1 ", amount: "2", text: "hi" })).toEqual({
      faults: {},
      order: { kind: "transfer", recipientId: "D1", amount: 200_000_000n, vendorField: "hi" },
    });
    expect(readOrder("transfer", {})).toEqual({
      faults: { to: expect.any(String), amount: expect.any(String) },
    });
  });

  test("Input of the form becomes a vote for a delegate of the chain, unless the wallet has voted.", () => {
    const typed = { delegate: "anna" };
    expect(readOrder("vote", typed, { vote: "", delegate: key }).order).toEqual({
      kind: "vote",
      vote: `+${key}`,
    });
    expect(readOrder("vote", typed, { vote: "" })).toEqual({ faults: {} });
    expect(readOrder("vote", typed, { vote: key, delegate: key }).faults.delegate).toContain("already voted");
    const withdrawal = { action: "withdraw" };
    expect(readOrder("vote", withdrawal, { vote: key }).order).toEqual({ kind: "vote", vote: `-${key}` });
    expect(readOrder("vote", withdrawal, { vote: "" }).faults.delegate).toContain("no vote");
    expect(readOrder("vote", withdrawal)).toEqual({ faults: {} });
  });

  test("Input of the form has one property per line, set or removed.", () => {
    const properties = "a = 1\n\n b=x = y \n__proto__ = z";
    expect(readOrder("mint", { unik, type: "2", properties }).order).toMatchObject({
      properties: { type: "2", a: "1", b: "x = y" },
    });
    expect(readOrder("update", { unik, set: "a = 1", remove: "b, c" }).order).toMatchObject({
      properties: { a: "1", b: null, c: null },
    });
  });

  test("Input of the form becomes a transfer of a unik, without the spaces around it.", () => {
    const order = { kind: "transfer-unik", tokenId: unik, recipientId: "D1" };
    expect(readOrder("transfer-unik", { unik: ` ${unik}`, to: "D1 " })).toEqual({ faults: {}, order });
  });

  test("Input of the form becomes a disclosure of names, with the type of the sender's unik.", () => {
    const factory = "cd".repeat(32);
    const typed = { unik, names: "anna\n anna.b \n", factory: `${factory} ` };
    const known = { tokens: { [unik]: { type: 2 } } };
    expect(readOrder("disclose", typed, known)).toEqual({
      faults: {},
      order: {
        ...{ kind: "disclose", tokenId: unik, explicitValues: ["anna", "anna.b"], type: 2 },
        factory,
      },
    });
    expect(readOrder("disclose", typed)).toEqual({ faults: {} });
    expect(readOrder("disclose", typed, { tokens: {} }).faults.unik).toContain("does not own");
    expect(Object.keys(readOrder("disclose", {}, known).faults)).toEqual(["unik", "names", "factory"]);
  });

  test.each([
    ["mint", { unik: "AB" }, "unik"],
    ["mint", { unik, properties: "type = 2" }, "properties"],
    ["mint", { unik, properties: "no pair" }, "properties"],
    ["mint", { unik, properties: "= value" }, "properties"],
    ["mint", { unik, properties: "a = 1\na = 2" }, "properties"],
    ["transfer-unik", { to: "D1" }, "unik"],
    ["transfer-unik", { unik }, "to"],
    ["update", { unik }, "properties"],
    ["update", { unik, set: "a = 1", remove: "a" }, "properties"],
  ] as const)("Input of the form of a %s %j is refused at its field.", (kind, values, field) => {
    const { order, faults } = readOrder(kind, values);
    expect(order).toBeUndefined();
    expect(Object.keys(faults)).toEqual([field]);
  });

  test("Input of the form includes fee and nonce if they are present.", () => {
    expect(readTerms({})).toEqual({ faults: {} });
    expect(readTerms({ fee: "0.5", nonce: "9" })).toEqual({ fee: 50_000_000n, nonce: 9n, faults: {} });
    expect(Object.keys(readTerms({ fee: "x", nonce: "0" }).faults)).toEqual(["fee", "nonce"]);
  });
});

describe("Signed JSON", () => {
  const one = { id: "ab".repeat(32), type: 0, signature: "00" };
  const other = { ...one, id: "cd".repeat(32) };

  test.each([
    ["one", one, 1],
    ["one of the command line", { id: one.id, state: "signed", transaction: one }, 1],
    ["a list", [one, other], 2],
    ["the body of a request", { transactions: [one, other] }, 2],
    ["one of several signers", { ...one, signature: undefined, signatures: ["00"] }, 1],
  ])("Signed JSON can be %s.", (_what, json, count) => {
    expect(readSigned(JSON.stringify(json)).transactions).toHaveLength(count);
  });

  test.each([
    ["nothing", "", "Enter JSON"],
    ["an incomplete text", '{"id":', "This is not JSON"],
    ["a number", "5", "is not a transaction"],
    ["an empty list", "[]", "contains no transaction"],
    ["no id", '{"type":0,"signature":"00"}', '"id"'],
    ["no type", JSON.stringify({ ...one, type: undefined }), '"type"'],
    ["no signature", JSON.stringify({ ...one, signature: undefined }), "not signed"],
    ["the second without an id", JSON.stringify([one, {}]), "Transaction 2"],
    ["one twice", JSON.stringify([one, one]), "twice"],
    ["more than a node accepts", JSON.stringify(Array.from({ length: 41 }, () => one)), "40 transactions"],
    ["too long a text", `${" ".repeat(MAX_CHARACTERS)}{}`, "At most"],
  ])("Signed JSON with %s is refused.", (_what, text, reason) => {
    expect(readSigned(text).fault).toContain(reason);
  });
});

describe("Equivalent commands and code", () => {
  test("Equivalent commands and code include a command, with texts that a shell does not interpret.", () => {
    const order = {
      kind: "transfer",
      recipientId: "D1",
      amount: 150_000_000n,
      vendorField: "it's $5",
    } as const;
    expect(commandOf(order, { fee: 1n, nonce: 3n }, "", "http://node")).toBe(
      "uniknode tx transfer D1 1.5 --vendor-field 'it'\\''s $5' --fee 0.00000001 --nonce 3 --url http://node",
    );
    const mint = { kind: "mint", tokenId: unik, properties: { type: "3", a: "b" } } as const;
    expect(commandOf(mint, {}, "", "http://node")).toBe(
      `uniknode tx mint ${unik} network --property 'a=b' --url http://node`,
    );
    const update = { kind: "update", tokenId: unik, properties: { a: null } } as const;
    expect(commandOf(update, {}, "", "http://node")).toContain(`update ${unik} --remove 'a'`);
    const give = { kind: "transfer-unik", tokenId: unik, recipientId: "D1" } as const;
    expect(commandOf(give, {}, "", "http://node")).toContain(`tx transfer-unik ${unik} D1 --url`);
    expect(programOf(give, {}, "http://node")).toContain("builders.nftTransfer({");
    const factory = "cd".repeat(32);
    const disclosure = {
      kind: "disclose",
      tokenId: unik,
      explicitValues: ["anna", "it's"],
      type: 1,
      factory,
    } as const;
    expect(commandOf(disclosure, {}, "", "http://node")).toContain(
      `tx disclose ${unik} 'anna' 'it'\\''s' --factory ${factory} --url`,
    );
    expect(programOf(disclosure, {}, "http://node")).toContain(
      'explicitValues: ["anna","it\'s"],\n  kind: 1,',
    );
    expect(commandOf({ kind: "vote", vote: `+${key}` }, {}, "anna", "http://node")).toContain("tx vote anna");
    expect(commandOf({ kind: "vote", vote: `-${key}` }, {}, "", "http://node")).toContain("tx unvote");
  });

  test("Equivalent commands and code include a program, with the texts of the input.", () => {
    const order = { kind: "transfer", recipientId: "D1", amount: 5n, vendorField: '"' } as const;
    expect(programOf(order, { nonce: 2n }, "http://node")).toContain(
      'builders.transfer({\n  network,\n  senderPublicKey,\n  nonce: 2n,\n  recipientId: "D1",\n  amount: 5n,\n  vendorField: "\\"",\n});',
    );
  });
});

test.each([
  ["ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction", "fee"],
  ["ERR_APPLY", "Cannot apply a transaction with nonce 9: the sender has nonce 3.", "nonce"],
  ["ERR_APPLY", "Insufficient balance in the wallet.", "amount"],
  ["ERR_INVALID_RECIPIENT", "Recipient X is not on the same network: 30", "to"],
  ["ERR_APPLY", "because token 'ab' is already owned", "unik"],
  ["ERR_APPLY", "disclose demand certification signature does not correspond", "certifier"],
  ["ERR_DUPLICATE", "Already in cache.", undefined],
])("A refusal %s (%s) belongs to the field %s.", (type, message, field) => {
  expect(fieldOf({ id: "", became: "refused", reasons: [{ type, message }] })).toBe(field);
});
