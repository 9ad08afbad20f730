/** Tokens without certification (transactions-rules.md 5, state.md 3.3). */
import { RuleError } from "@uniknode/ledger";
import { present, type Transaction } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  apply,
  networkWith,
  publicKeyOf,
  refusalOf,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";
import { shownAttributes } from "../../test-support/holdings.ts";
import { giveUnik, held, propertiesOf, propertyOf, tokenId, unik } from "../../test-support/uniks.ts";

const rich = { balance: 1000n };

const mint = (properties?: Record<string, string | null>, name = "new") =>
  transactionOf("2000/0", "alice", { asset: { nft: unik(name, properties) } });
const update = (properties: Record<string, string | null>, members?: Partial<Transaction>) =>
  transactionOf("2000/1", "alice", { asset: { nft: unik("cat", properties) }, ...members });
const transfer = (recipient: string, properties?: Record<string, string | null>) =>
  transactionOf("2000/2", "alice", {
    asset: { nft: unik("cat", properties) },
    recipientId: addressOfName(recipient),
  });

/** Alice with a unik called cat. */
function stateWithCat(properties: Record<string, string> = { type: "1" }) {
  const draft = stateOf({ alice: rich, bob: rich });
  giveUnik(draft, "alice", "cat", properties);
  return draft;
}

function messageOf(draft: ReturnType<typeof stateOf>, transaction: Transaction): string {
  try {
    apply(draft, transaction);
    return "";
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
}

test("Trap A28: a token without a type cannot be sent, nor one whose type the transfer removes.", () => {
  expect(messageOf(stateWithCat({}), transfer("bob"))).toMatch(/has no property "type"$/);
  expect(messageOf(stateWithCat(), transfer("bob", { type: null }))).toMatch(/has no property "type"$/);
  expect(messageOf(stateWithCat({ type: "" }), transfer("bob"))).toBe("");
});

test.each(["constructor", "__proto__", "toString"])(
  "Trap A28: a token with properties cannot have the name %s.",
  (name) => {
    const token = (properties?: Record<string, string>) =>
      transactionOf("2000/1", "alice", {
        asset: {
          nft: Object.fromEntries([[name, { tokenId: tokenId("cat"), ...(properties && { properties }) }]]),
        },
      });
    expect(refusalOf(stateWithCat(), token({ a: "b" }))).toBe("ConstraintError");
    expect(refusalOf(stateWithCat(), token({}))).not.toBe("ConstraintError");
  },
);

describe("mint", () => {
  test("A mint appends the token to the sender's map and stores it with its properties, without null values.", () => {
    const draft = stateWithCat();
    const transaction = mint({ b: "", type: "2", a: "1", none: null });
    apply(draft, transaction);
    expect(walletNamed(draft, "alice")).toMatchObject({ balance: 999n, nonce: 1n });
    expect(held(draft, "alice")).toEqual([tokenId("cat"), tokenId("new")]);
    expect(walletNamed(draft, "alice").attributes.tokens?.[tokenId("new")]).toEqual({ type: 2 });
    expect(draft.get("tokens", tokenId("new"))).toEqual({
      id: tokenId("new"),
      ownerId: addressOfName("alice"),
      firstTransaction: transaction.id,
      lastTransaction: transaction.id,
    });
    expect(propertiesOf(draft, "new")).toEqual({ b: "", type: "2", a: "1" });
  });

  test("A mint refuses in the order of its section.", () => {
    const draft = stateWithCat();
    const long = "x".repeat(256);
    expect(refusalOf(draft, mint({ long }, "cat"))).toBe("NftOwnedError");
    expect(refusalOf(draft, mint({ long }))).toBe("NftPropertyTooLongError");
    expect(messageOf(draft, mint({ "a b": "1" }))).toBe("some genesis properties are missing");
    expect(refusalOf(draft, { ...mint({ type: "4" }), nonce: 9n })).toBe("ConstraintError");
    expect(refusalOf(draft, { ...mint({ type: "1" }), nonce: 9n })).toBe("UnexpectedNonceError");
    expect(refusalOf(stateOf({ alice: {} }), mint({ type: "1" }))).toBe("InsufficientBalanceError");
  });

  test("A mint counts the bytes of a value, not its characters.", () => {
    const draft = stateWithCat();
    expect(refusalOf(draft, mint({ type: "1", x: "é".repeat(128) }))).toBe("NftPropertyTooLongError");
    apply(draft, mint({ type: "1", x: `${"é".repeat(127)}x` }));
  });

  test("A mint refuses a token of another holder, under any name.", () => {
    const draft = stateOf({ alice: rich });
    giveUnik(draft, "bob", "cat");
    const asset = { nft: { other: { tokenId: tokenId("cat"), properties: { a: "" } } } };
    expect(messageOf(draft, transactionOf("2000/0", "alice", { asset }))).toBe(
      `Failed to apply transaction, because token '${tokenId("cat")}' is already owned`,
    );
  });

  test.each(["0", "4", "01", "a", "", null])("A mint refuses a unik of type %j.", (type) => {
    expect(messageOf(stateWithCat(), mint({ type }))).toBe(
      "Constraint violation on property 'type' (enumeration)",
    );
  });

  test("A token of another name can have any keys and type, but needs some property.", () => {
    const draft = stateOf({ alice: rich });
    const other = (properties?: Record<string, string>) => ({
      asset: { nft: { other: { tokenId: tokenId("new"), ...(properties && { properties }) } } },
    });
    expect(refusalOf(draft, transactionOf("2000/0", "alice", other()))).toBe("ConstraintError");
    apply(draft, transactionOf("2000/0", "alice", other({ "any key": "v", type: "77" })));
    expect(walletNamed(draft, "alice").attributes.tokens).toEqual({ [tokenId("new")]: { type: 77 } });
  });

  test("A mint is inactive once only certified tokens are minted.", () => {
    const certified = networkWith([{ height: 5, certifiedNFTsOnly: true }]);
    const draft = stateOf({ alice: rich });
    const refusal = (height: number) =>
      refusalOf(draft, mint({ type: "1" }), { network: certified, head: { height, timestamp: 0 } });
    expect(refusal(5)).toBe("DeactivatedTransactionHandlerError");
    // Trap A1: the block of the milestone itself may still have it.
    expect(refusal(4)).toBe("");
  });

  test("A mint keeps values that were disclosed before the token existed.", () => {
    const draft = stateOf({ alice: rich });
    draft.set("properties", `${tokenId("new")}/explicitValues`, "early");
    apply(draft, mint({ type: "1" }));
    expect(propertiesOf(draft, "new")).toEqual({ explicitValues: "early", type: "1" });
  });
});

describe("update", () => {
  test("An update inserts, replaces and deletes; deleting an absent property is not an error.", () => {
    const draft = stateWithCat({ type: "1", color: "blue", old: "1" });
    const transaction = update({ color: "red", old: null, none: null, fresh: "" });
    apply(draft, transaction);
    expect(propertiesOf(draft, "cat")).toEqual({ type: "1", color: "red", fresh: "" });
    expect(draft.get("tokens", tokenId("cat"))).toMatchObject({
      firstTransaction: "mint",
      lastTransaction: transaction.id,
    });
  });

  test("An update refuses in the order of its section.", () => {
    const stranger = stateOf({ alice: rich });
    giveUnik(stranger, "bob", "cat");
    expect(messageOf(stranger, update({ x: "x".repeat(256) }))).toBe(
      `Failed to apply transaction, because wallet '${addressOfName("alice")}' is not the owner of token '${tokenId("cat")}'`,
    );
    const draft = stateWithCat();
    expect(refusalOf(draft, update({ "a b": "x".repeat(256) }))).toBe("NftPropertyTooLongError");
    expect(refusalOf(draft, update({ "a b": "" }, { nonce: 9n }))).toBe("ConstraintError");
    expect(refusalOf(draft, update({ x: "" }, { nonce: 9n }))).toBe("UnexpectedNonceError");
  });

  test.each(["1", "2", "9", null])("Trap A12: the type is immutable, for the value %j.", (type) => {
    expect(messageOf(stateWithCat(), update({ type }))).toBe(
      "Constraint violation on property 'type' (immutable)",
    );
  });

  test("The type must be in its enumeration if the store has lost it.", () => {
    const draft = stateWithCat();
    draft.set("properties", `${tokenId("cat")}/type`, undefined);
    expect(messageOf(draft, update({ type: null }))).toContain("(enumeration)");
    apply(draft, update({ type: "3" }));
    expect(propertyOf(draft, "cat", "type")).toBe("3");
  });

  test.each(["a,b", "+", "-", ".", "/", "_", "Az09"])("Trap A12: an update accepts the key %j.", (key) => {
    apply(stateWithCat(), update({ [key]: "x" }));
  });

  test.each(["", "a b", "a:b", "café", "a*", "a\n", "(", "@", "["])(
    "An update refuses the key %j.",
    (key) => {
      expect(messageOf(stateWithCat(), update({ [key]: "x" }))).toBe(
        String.raw`Constraint violation on property '${key}' (pattern regex (key: '${key}', pattern: /^[a-zA-Z0-9+-\.\/\_]+$/))`,
      );
    },
  );

  test("Trap A9: the holder can write properties that rules rely on.", () => {
    const properties = {
      explicitValues: "me",
      "Badges/NP/Delegate": "true",
      "LifeCycle/Status": "100",
      UnikVoucherId: "v",
    };
    const draft = stateWithCat();
    apply(draft, update(properties));
    expect(propertiesOf(draft, "cat")).toEqual({ type: "1", ...properties });
  });

  test("The update can be disabled.", () => {
    const off = networkWith([], { transactionsConfig: { NftUpdate: { enable: false } } });
    expect(refusalOf(stateWithCat(), update({ a: "" }), { network: off })).toBe(
      "DeactivatedTransactionHandlerError",
    );
  });
});

describe("transfer", () => {
  test("A transfer moves the token from one map to the other, and changes its owner.", () => {
    const draft = stateWithCat();
    const transaction = transfer("bob");
    apply(draft, transaction);
    expect(walletNamed(draft, "alice").attributes).toEqual({});
    expect(walletNamed(draft, "alice").balance).toBe(999n);
    expect(walletNamed(draft, "bob").attributes.tokens).toEqual({ [tokenId("cat")]: { type: 1 } });
    expect(draft.get("tokens", tokenId("cat"))).toMatchObject({
      ownerId: addressOfName("bob"),
      lastTransaction: transaction.id,
    });
  });

  test.each([
    ["0x2", 2],
    [" 0X3", 3],
    ["-0x1", -1],
    ["0", 0],
    ["010", 10],
    ["2b", 2],
  ])("Trap A30: a token of the type %j has the type %d in the recipient's map.", (text, type) => {
    const draft = stateWithCat();
    apply(draft, transfer("bob", { type: text }));
    expect(walletNamed(draft, "bob").attributes.tokens).toEqual({ [tokenId("cat")]: { type } });
  });

  test("Trap A21: the recipient can be unknown, and on any network.", () => {
    const elsewhere = "SUHNyVMMiWZ5GhYqQkqgzXpE8FkXBnpyQx";
    const draft = stateWithCat();
    apply(draft, { ...transfer("bob"), recipientId: elsewhere });
    const recipient = present(draft.get("wallets", elsewhere), "the wallet of the recipient");
    expect(shownAttributes(draft, recipient).tokens).toEqual({ [tokenId("cat")]: { type: 1 } });
  });

  test("Trap A7: a token sent to its own sender is moved to the end.", () => {
    const draft = stateWithCat();
    giveUnik(draft, "alice", "dog");
    apply(draft, transfer("alice"));
    expect(held(draft, "alice")).toEqual([tokenId("dog"), tokenId("cat")]);
  });

  test("Trap A11: a transfer can change the type; trap A22: the map reads it from the store.", () => {
    const draft = stateWithCat();
    apply(draft, transfer("bob", { type: "3", "any key": "v" }));
    expect(propertiesOf(draft, "cat")).toEqual({ type: "3", "any key": "v" });
    expect(walletNamed(draft, "bob").attributes.tokens).toEqual({ [tokenId("cat")]: { type: 3 } });
  });

  test("The map reads the type from the store even if the sender's map differs.", () => {
    const draft = stateWithCat();
    draft.set("properties", `${tokenId("cat")}/type`, "2");
    apply(draft, transfer("bob"));
    expect(walletNamed(draft, "bob").attributes.tokens).toEqual({ [tokenId("cat")]: { type: 2 } });
  });

  test("A transfer refuses in the order of its section.", () => {
    const long = { x: "x".repeat(256) };
    expect(refusalOf(stateOf({ alice: rich }), transfer("bob", long))).toBe("NftOwnerError");
    expect(refusalOf(stateWithCat(), { ...transfer("bob", long), nonce: 9n })).toBe(
      "NftPropertyTooLongError",
    );
    expect(refusalOf(stateWithCat(), { ...transfer("bob"), nonce: 9n })).toBe("UnexpectedNonceError");
  });

  test("The transfer can be disabled.", () => {
    const off = networkWith([], { transactionsConfig: { NftTransfer: { enable: false } } });
    expect(refusalOf(stateWithCat(), transfer("bob"), { network: off })).toBe(
      "DeactivatedTransactionHandlerError",
    );
  });

  test("Votes follow the fee of a transfer alone.", () => {
    const vote = publicKeyOf("delegate");
    const draft = stateOf({ alice: { ...rich, attributes: { vote } } });
    giveUnik(draft, "alice", "cat");
    const wallet = walletNamed(draft, "delegate");
    const delegate = {
      username: "d",
      voteBalance: 1000n,
      forgedFees: 0n,
      forgedRewards: 0n,
      producedBlocks: 0,
      round: 0,
    };
    draft.set("wallets", wallet.address, { ...wallet, attributes: { delegate } });
    apply(draft, transfer("bob"));
    expect(walletNamed(draft, "delegate").attributes.delegate?.voteBalance).toBe(999n);
  });
});
