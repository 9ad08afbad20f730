/** Rules that all types share (transactions-rules.md 1 and 2). */
import { applyToSender, createDraft, findRule, type RuleError } from "@uniknode/ledger";
import { type Transaction, transactionTypes } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  apply,
  contextOn,
  network,
  networkWith,
  publicKeyOf,
  refusalOf,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";

const pay = (members: Partial<Transaction> = {}) =>
  transactionOf("1/0", "alice", { amount: 10n, recipientId: addressOfName("bob"), ...members });
const rich = { balance: 1000n };

describe("types", () => {
  test("An unknown type does not exist, before all other checks.", () => {
    const draft = stateOf({});
    const unknown = (type: string) => () => apply(draft, transactionOf(type, "alice"));
    expect(unknown("1/11")).toThrow("Transaction type Core/11 does not exist.");
    expect(unknown("7/1")).toThrow("Transaction type 7/1 does not exist.");
    expect(refusalOf(draft, transactionOf("7/1", "alice"))).toBe("InvalidTransactionTypeError");
  });

  test("Each type of the protocol has its rule.", () => {
    const missing = transactionTypes.filter(({ typeGroup, type }) => !findRule(typeGroup, type));
    expect(missing).toEqual([]);
  });

  test("Trap A1: the activation of types follows the milestone of the head.", () => {
    const late = networkWith([
      { height: 1, aip11: false },
      { height: 5, aip11: true },
    ]);
    const payments = { asset: { payments: [{ recipientId: addressOfName("bob"), amount: 1n }] } };
    const at = (height: number) => ({ network: late, head: { height, timestamp: 0 } });
    expect(refusalOf(stateOf({ alice: rich }), transactionOf("1/6", "alice", payments), at(4))).toBe(
      "DeactivatedTransactionHandlerError",
    );
    expect(refusalOf(stateOf({ alice: rich }), transactionOf("1/6", "alice", payments), at(5))).toBe("");
  });
});

describe("nonce and balance", () => {
  test("G1 precedes G2", () => {
    expect(() => apply(stateOf({ alice: {} }), pay({ nonce: 3n }))).toThrow(
      `Cannot apply a transaction with nonce 3: the sender ${publicKeyOf("alice")} has nonce 0.`,
    );
    expect(refusalOf(stateOf({ alice: {} }), pay())).toBe("InsufficientBalanceError");
  });

  test("The complete balance can be spent, and not more.", () => {
    expect(refusalOf(stateOf({ alice: rich }), pay({ amount: 999n }))).toBe("");
    expect(refusalOf(stateOf({ alice: rich }), pay({ amount: 1000n }))).toBe("InsufficientBalanceError");
  });

  test("Version 1 has no nonce and still increments it.", () => {
    const { nonce: _, ...legacy } = pay({ version: 1, timestamp: 1 });
    const draft = stateOf({ alice: { ...rich, nonce: 4n } });
    apply(draft, legacy);
    expect(walletNamed(draft, "alice").nonce).toBe(5n);
  });

  test("The first transaction of a wallet sets its public key.", () => {
    const draft = stateOf({ carol: rich });
    const address = addressOfName("alice");
    draft.set("wallets", address, { address, balance: 500n, nonce: 0n, attributes: {} });
    apply(draft, pay());
    expect(draft.get("wallets", address)?.publicKey).toBe(publicKeyOf("alice"));
  });

  test("The wallet must have the key of the sender.", () => {
    const draft = stateOf({});
    const address = addressOfName("alice");
    const publicKey = publicKeyOf("mallory");
    draft.set("wallets", address, { address, publicKey, balance: 500n, nonce: 0n, attributes: {} });
    expect(refusalOf(draft, pay())).toBe("SenderWalletMismatchError");
  });

  test("A listed negative balance is accepted if G2 does not apply.", () => {
    const free = { ...network, exceptions: { transactions: ["listed"] } };
    expect(refusalOf(stateOf({ alice: {} }), pay({ id: "listed" }), { network: free })).toBe(
      "InsufficientBalanceError",
    );
    const listed = {
      ...network,
      exceptions: { transactions: ["listed"], negativeBalances: { [publicKeyOf("alice")]: { "1": "-11" } } },
    };
    const draft = stateOf({ alice: {} });
    apply(draft, pay({ id: "listed" }), { network: listed });
    expect(walletNamed(draft, "alice").balance).toBe(-11n);
  });
});

describe("second signatures", () => {
  test("Second signatures are refused from a wallet without second key.", () => {
    expect(refusalOf(stateOf({ alice: rich }), pay({ secondSignature: "00" }))).toBe(
      "UnexpectedSecondSignatureError",
    );
  });
});

describe("multi signatures", () => {
  const asset = { min: 1, publicKeys: [publicKeyOf("bob")] };

  test("Multi signatures are refused from a plain wallet.", () => {
    expect(refusalOf(stateOf({ alice: rich }), pay({ signatures: ["00"] }))).toBe(
      "UnsupportedMultiSignatureTransactionError",
    );
  });

  test("Multi signatures of a legacy wallet are not supported.", () => {
    const alice = { ...rich, attributes: { multiSignature: { ...asset, legacy: true as const } } };
    expect(refusalOf(stateOf({ alice }), pay())).toBe("LegacyMultiSignatureError");
  });

  test("Multi signatures of legacy registrations are refused without aip11.", () => {
    const early = networkWith([{ height: 1, aip11: false }]);
    const registration = transactionOf("1/4", "alice", {
      asset: { multiSignature: asset },
      signatures: [],
    });
    expect(refusalOf(stateOf({ alice: rich }), registration, { network: early })).toBe(
      "MultiSignatureKeyCountMismatchError",
    );
  });
});

describe("in the pool", () => {
  /** The pool's overlay over a chain. */
  const pool = (chain: ReturnType<typeof stateOf>) => contextOn(createDraft(chain), { state: chain });
  const codeOf = (run: () => void) => {
    try {
      run();
    } catch (error) {
      return (error as RuleError).code;
    }
    return "";
  };

  test("In the pool, only the sender's part is applied, to the overlay.", () => {
    const chain = stateOf({ alice: rich });
    const context = pool(chain);
    applyToSender(pay(), context);
    applyToSender(pay({ nonce: 2n }), context);
    expect(walletNamed(context.draft, "alice")).toMatchObject({ balance: 978n, nonce: 2n });
    expect(context.draft.get("wallets", addressOfName("bob"))).toBeUndefined();
    expect(walletNamed(chain, "alice").balance).toBe(1000n);
  });

  test("In the pool, a refusal does not change the overlay.", () => {
    const context = pool(stateOf({ alice: rich }));
    applyToSender(pay(), context);
    const before = context.draft.changes();
    expect(codeOf(() => applyToSender(pay({ nonce: 7n }), context))).toBe("UnexpectedNonceError");
    expect(context.draft.changes()).toEqual(before);
  });

  test("In the pool, a wallet that the chain does not know is cold.", () => {
    expect(codeOf(() => applyToSender(pay(), pool(stateOf({}))))).toBe("ColdWalletError");
    const chain = stateOf({});
    const address = addressOfName("alice");
    chain.set("wallets", address, { address, balance: 500n, nonce: 0n, attributes: {} });
    expect(codeOf(() => applyToSender(pay(), pool(chain)))).toBe("");
  });

  test("For the pool, the chain checks an unfunded sender by its balance.", () => {
    expect(refusalOf(stateOf({}), pay())).toBe("InsufficientBalanceError");
  });

  test("G4: a pending second key allows no second signature yet", () => {
    const context = pool(stateOf({ alice: rich }));
    const register = transactionOf("1/1", "alice", { asset: { signature: { publicKey: publicKeyOf("2") } } });
    applyToSender(register, context);
    expect(codeOf(() => applyToSender(pay({ nonce: 2n, secondSignature: "00" }), context))).toBe(
      "UnexpectedSecondSignatureError",
    );
  });
});
