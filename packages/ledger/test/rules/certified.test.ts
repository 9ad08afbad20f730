/** Certification, certified mints and updates, rewards (transactions-rules.md 6.0 to 6.2, state.md 4.1). */

import { RuleError, recordUses } from "@uniknode/ledger";
import { present, type Transaction } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  certifiedMint,
  certifiedUpdate,
  stateWithFactory,
  unikNetwork,
  V1,
  V2,
} from "../../test-support/certified.ts";
import {
  addressOfName,
  apply,
  publicKeyOf,
  refusalOf,
  type Situation,
  someDelegate,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";
import { putWallet } from "../../test-support/holdings.ts";
import { giveUnik, held, propertiesOf, tokenId, unik } from "../../test-support/uniks.ts";

const rich = { balance: 1000n };
const penniless = { balance: 0n };

function messageOf(
  draft: ReturnType<typeof stateOf>,
  transaction: Transaction,
  situation: Situation,
): string {
  try {
    apply(draft, transaction, situation);
    return "";
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
}

const balance = (draft: ReturnType<typeof stateOf>, name: string) => walletNamed(draft, name).balance;

describe("certification", () => {
  const mint = (terms: Parameters<typeof certifiedMint>[2] = {}) =>
    certifiedMint("alice", unik("new", { type: "1" }), terms);

  test("C1: the issuer is on the list of factories or among the checkers of the milestone", () => {
    const draft = stateWithFactory({ alice: rich, checker: {} });
    giveUnik(draft, "checker", "checker", { type: "2" });
    const transaction = mint({ issuer: "checker" });
    expect(messageOf(draft, transaction, V1)).toBe(
      `Failed to apply transaction ${transaction.id}, because the demand issuer of id ${tokenId("checker")} is not allowed to`,
    );
    // Trap A1: the checkers are those of the head.
    const late = (height: number) => ({ network: unikNetwork(), head: { height, timestamp: 0 } });
    expect(refusalOf(draft, transaction, late(29))).toBe("CertifiedDemandNotAllowedIssuerError");
    expect(refusalOf(draft, transaction, late(30))).toBe("");
  });

  test("C2: the issuing token exists", () => {
    const transaction = mint();
    expect(messageOf(stateOf({ alice: rich }), transaction, V1)).toBe(
      `Failed to apply transaction ${transaction.id}: Unable to retrieve transaction issuer: Cannot read property 'ownerId' of null`,
    );
  });

  test("C3, trap A10: the certification is signed by the current owner of the issuing token", () => {
    const draft = stateWithFactory({ alice: rich, bob: rich });
    expect(messageOf(draft, mint({ certifier: "bob" }), V1)).toBe(
      "Failed to apply certified transaction:: Failed to check certification signature",
    );
    draft.set("tokens", tokenId("factory"), {
      ...present(draft.get("tokens", tokenId("factory")), "an entry of draft"),
      ownerId: addressOfName("bob"),
    });
    expect(refusalOf(draft, mint(), V1)).toBe("NftCertificationBadSignatureError");
    expect(refusalOf(draft, mint({ certifier: "bob" }), V1)).toBe("");
  });

  test("C3: an owner whose key is unknown cannot certify", () => {
    const draft = stateWithFactory({ alice: rich });
    const { publicKey: _, ...keyless } = walletNamed(draft, "factory");
    putWallet(draft, keyless);
    expect(refusalOf(draft, mint(), V1)).toBe("NftCertificationBadSignatureError");
  });

  test("C4: the certification is one of this demand for this content", () => {
    const draft = stateWithFactory({ alice: rich });
    expect(messageOf(draft, mint({ certified: unik("new", { type: "2" }) }), V1)).toBe(
      "Failed to apply certified transaction:: Failed to check certification payload subject",
    );
  });

  test("C5 and C6: the amount is the cost, and the recipient the issuer", () => {
    const draft = stateWithFactory({ alice: rich });
    const text = (name: string) =>
      `Failed to apply certified transaction:: Failed to apply transaction: invalid parameter "${name}"`;
    expect(messageOf(draft, mint({ cost: 5n, members: { amount: 4n } }), V1)).toBe(text("amount"));
    const wrong = { ...mint({ cost: 5n }), recipientId: addressOfName("alice") };
    expect(messageOf(draft, wrong, V1)).toBe(text("recipient"));
  });

  test("Trap A10: neither signature nor content of the demand are verified.", () => {
    const draft = stateWithFactory({ alice: rich });
    const signedByBob = certifiedMint("bob", unik("new", { type: "1" }), { subject: "any" });
    const { id: _, ...body } = signedByBob;
    const stolen = {
      ...transactionOf("2001/3", "alice"),
      asset: present(body.asset, "asset"),
      recipientId: present(body.recipientId, "recipientId"),
    };
    expect(refusalOf(draft, stolen, V1)).toBe("");
  });

  test("The certification follows the generic checks.", () => {
    const draft = stateWithFactory({ alice: rich });
    expect(refusalOf(draft, mint({ issuer: "unknown", members: { nonce: 9n } }), V1)).toBe(
      "UnexpectedNonceError",
    );
  });
});

describe("certified mint", () => {
  const mint = (properties: Record<string, string | null>, terms = {}) =>
    certifiedMint("alice", unik("new", properties), terms);

  test("A certified mint creates the token, and pays the factory.", () => {
    const draft = stateWithFactory({ alice: rich });
    apply(draft, mint({ type: "2", color: "red" }, { cost: 100n }), V1);
    expect(balance(draft, "alice")).toBe(899n);
    expect(balance(draft, "factory")).toBe(100n);
    expect(walletNamed(draft, "alice").attributes.tokens).toEqual({ [tokenId("new")]: { type: 2 } });
    expect(propertiesOf(draft, "new")).toEqual({ type: "2", color: "red" });
  });

  test("A certified mint requires a type before anything else.", () => {
    const draft = stateWithFactory({ alice: rich });
    const transaction = mint({ color: "red" }, { members: { nonce: 9n } });
    expect(refusalOf(draft, transaction, V1)).toBe("Error");
    expect(messageOf(draft, transaction, V1)).toBe("Asset must contain did type.");
    for (const type of ["", null])
      expect(messageOf(draft, mint({ type }), V1)).toBe("Asset must contain did type.");
  });

  test("A certified mint refuses as the plain mint does.", () => {
    const draft = stateWithFactory({ alice: rich });
    giveUnik(draft, "factory", "new");
    expect(refusalOf(draft, mint({ type: "9" }), V1)).toBe("NftOwnedError");
    expect(refusalOf(stateWithFactory({ alice: rich }), mint({ type: "9" }), V1)).toBe("ConstraintError");
    expect(refusalOf(stateWithFactory({}), mint({ type: "1" }), V1)).toBe("InsufficientBalanceError");
  });

  test("The sender of a certified mint must not vote for a delegate of another type.", () => {
    const voting = { ...rich, attributes: { vote: publicKeyOf("delegate") } };
    const stateVoting = (type?: number) =>
      stateWithFactory({
        alice: voting,
        delegate: { attributes: { delegate: someDelegate({ ...(type !== undefined && { type }) }) } },
      });
    expect(messageOf(stateVoting(3), mint({ type: "1" }), V1)).toBe(
      "Unable to mint individual UniknameID because the crypto-account is already supporting (voting for) network delegate. Please remove your support (unvote) first",
    );
    expect(refusalOf(stateVoting(1), mint({ type: "1" }), V1)).toBe("");
    // A genesis delegate has no type.
    expect(refusalOf(stateVoting(), mint({ type: "1" }), V1)).toBe("");
    // Trap A30: tokens other than uniks can have these types.
    expect(refusalOf(stateVoting(0), mint({ type: "1" }), V1)).toBe("");
    expect(refusalOf(stateVoting(Number.NaN), mint({ type: "1" }), V1)).toBe("");
  });
});

describe("voucher", () => {
  const mint = (type: string, fee: bigint, terms: Parameters<typeof certifiedMint>[2] = {}) =>
    certifiedMint("alice", unik("new", { type, UnikVoucherId: "V" }), {
      ...terms,
      members: { fee, ...terms.members },
    });

  test("Trap A5: a voucher rewards sender and foundation, and the fee is returned; balance 0 suffices for it.", () => {
    const draft = stateWithFactory({ alice: penniless });
    apply(draft, mint("2", 1n), V1);
    expect(balance(draft, "alice")).toBe(20n);
    expect(balance(draft, "foundation")).toBe(100n);
    expect(walletNamed(draft, "alice").nonce).toBe(1n);
  });

  test("A voucher of an individual has no reward under V2, and no cost.", () => {
    const draft = stateWithFactory({ alice: penniless });
    expect(refusalOf(draft, mint("1", 1n), V2)).toBe("WrongFeeError");
    apply(draft, mint("1", 0n), V2);
    expect(balance(draft, "alice")).toBe(0n);
    expect(balance(draft, "foundation")).toBe(0n);
  });

  test.each(["2", "3"])("A voucher of type %s is rewarded under V2 as before.", (type) => {
    const draft = stateWithFactory({ alice: penniless });
    expect(refusalOf(draft, mint(type, 0n), V2)).toBe("WrongFeeError");
    apply(draft, mint(type, 1n), V2);
    expect(balance(draft, "alice")).toBe(BigInt(type) * 10n);
  });

  test("A voucher costs nothing, which is checked before the fee.", () => {
    const draft = stateWithFactory({ alice: rich });
    const transaction = mint("2", 9n, { cost: 1n });
    expect(messageOf(draft, transaction, V1)).toBe(
      `Failed to apply transaction ${transaction.id}: amount does not match required service cost`,
    );
    const dear = mint("2", 9n);
    expect(messageOf(draft, dear, V1)).toBe(
      `Failed to apply transaction ${dear.id}: provided fees does not match the requirements`,
    );
  });

  test("An empty voucher is ignored.", () => {
    const draft = stateWithFactory({ alice: rich });
    apply(draft, certifiedMint("alice", unik("new", { type: "1", UnikVoucherId: "" }), { cost: 7n }), V1);
    expect(balance(draft, "alice")).toBe(992n);
  });

  test("Trap A3: a voucher is used when its block is complete, for its NFT name.", () => {
    const draft = stateWithFactory({ alice: penniless });
    const first = mint("2", 1n);
    apply(draft, first, V1);
    const other = certifiedMint("alice", unik("other", { type: "2", UnikVoucherId: "V" }), {
      members: { nonce: 2n },
    });
    const mark = draft.mark();
    expect(refusalOf(draft, other, V1)).toBe("");
    draft.rollback(mark);
    recordUses(draft, [{ data: first, bytes: new Uint8Array(), isVerified: true }]);
    expect(messageOf(draft, other, V1)).toBe(
      'Failed to apply transaction: voucher "V" has already been used',
    );
    const properties = { type: "2", UnikVoucherId: "V" };
    const ofOtherName = certifiedMint(
      "alice",
      { other: { tokenId: tokenId("other"), properties } },
      {
        members: { nonce: 2n },
      },
    );
    expect(refusalOf(draft, ofOtherName, V1)).toBe("");
  });

  test("A voucher of a type without a reward is refused.", () => {
    const draft = stateWithFactory({ alice: rich });
    const properties = { type: "77", UnikVoucherId: "V" };
    const transaction = certifiedMint("alice", { other: { tokenId: tokenId("new"), properties } });
    expect(refusalOf(draft, transaction, V1)).toBe("InvalidDidTypeError");
  });

  test("Trap B1: a refusal does not leave the credit.", () => {
    const draft = stateWithFactory({ alice: penniless });
    expect(refusalOf(draft, mint("2", 1n, { issuer: "unknown" }), V1)).toBe(
      "CertifiedDemandNotAllowedIssuerError",
    );
    expect(balance(draft, "alice")).toBe(0n);
  });

  test("The first reward adds the foundation's public key to its wallet.", () => {
    const draft = stateWithFactory({ alice: penniless });
    const keyOf = (name: string) => draft.get("wallets", addressOfName(name))?.publicKey;
    expect(keyOf("foundation")).toBeUndefined();
    apply(draft, mint("2", 1n), V1);
    expect(keyOf("foundation")).toBe(publicKeyOf("foundation"));
  });

  test("The foundation can be the sender of a voucher itself.", () => {
    const draft = stateWithFactory({ foundation: penniless });
    const transaction = certifiedMint("foundation", unik("new", { type: "3", UnikVoucherId: "V" }));
    apply(draft, transaction, V1);
    expect(balance(draft, "foundation")).toBe(130n);
  });
});

describe("certified update", () => {
  const update = (properties: Record<string, string | null>, terms = {}) =>
    certifiedUpdate("alice", unik("cat", properties), terms);

  function stateWithCat(type: string, actor: { balance: bigint } = rich) {
    const draft = stateWithFactory({ alice: actor });
    giveUnik(draft, "alice", "cat", { type, color: "blue" });
    return draft;
  }
  const alive = { "LifeCycle/Status": "3" };

  test("A certified update writes the properties and pays the factory.", () => {
    const draft = stateWithCat("1");
    apply(draft, update({ color: null, x: "y" }, { cost: 100n }), V1);
    expect(propertiesOf(draft, "cat")).toEqual({ type: "1", x: "y" });
    expect([balance(draft, "alice"), balance(draft, "factory")]).toEqual([899n, 100n]);
  });

  test("Trap A28: a certified update needs properties.", () => {
    expect(messageOf(stateWithCat("1"), certifiedUpdate("alice", unik("cat"), {}), V1)).toBe(
      "the update has no properties",
    );
  });

  test("An alive demand is an ordinary update before V2.", () => {
    const draft = stateWithCat("1");
    apply(draft, update(alive, { cost: 100n, members: { fee: 5n } }), V1);
    expect([balance(draft, "alice"), balance(draft, "foundation")]).toEqual([895n, 0n]);
  });

  test("Traps A5 and A15: under V2 an individual is rewarded for an alive demand, each time.", () => {
    const draft = stateWithCat("1", penniless);
    apply(draft, update(alive), V2);
    apply(draft, update(alive, { members: { nonce: 2n } }), V2);
    expect([balance(draft, "alice"), balance(draft, "foundation")]).toEqual([20n, 200n]);
  });

  test("Under V2 the individual's alive demand has an exact fee and no cost.", () => {
    const draft = stateWithCat("1");
    expect(refusalOf(draft, update(alive, { cost: 1n, members: { fee: 9n } }), V2)).toBe(
      "WrongServiceCostError",
    );
    expect(refusalOf(draft, update(alive, { members: { fee: 0n } }), V2)).toBe("WrongFeeError");
  });

  test.each(["2", "3"])("Under V2 an alive demand of type %s is ordinary.", (type) => {
    const draft = stateWithCat(type);
    apply(draft, update(alive, { cost: 100n, members: { fee: 5n } }), V2);
    expect([balance(draft, "alice"), balance(draft, "foundation")]).toEqual([895n, 0n]);
    expect(refusalOf(stateWithCat(type, penniless), update(alive), V2)).toBe("InsufficientBalanceError");
  });

  test("Trap A22: the type is the one in the sender's map.", () => {
    const draft = stateWithCat("1", penniless);
    draft.set("properties", `${tokenId("cat")}/type`, "2");
    apply(draft, update(alive), V2);
    expect(balance(draft, "alice")).toBe(10n);
  });

  test("A certified update refuses a sender that does not hold the token, alive demand or not.", () => {
    const draft = stateWithFactory({ alice: rich });
    giveUnik(draft, "factory", "cat");
    expect(refusalOf(draft, update({ x: "y" }), V2)).toBe("NftOwnerError");
    expect(refusalOf(draft, update(alive), V2)).toBe("NftOwnerError");
  });

  test("A certified update checks the constraints, then the certification.", () => {
    const draft = stateWithCat("1");
    expect(refusalOf(draft, update({ type: "1" }, { issuer: "unknown" }), V1)).toBe("ConstraintError");
    expect(refusalOf(draft, update({ x: "y" }, { issuer: "unknown" }), V1)).toBe(
      "CertifiedDemandNotAllowedIssuerError",
    );
  });

  test("Trap A6: an alive demand of an organization under V2 subtracts nothing from its delegate.", () => {
    const vote = publicKeyOf("delegate");
    const delegate = someDelegate({ type: 2, voteBalance: 1000n });
    const draft = stateWithFactory({
      alice: { ...rich, attributes: { vote } },
      delegate: { attributes: { delegate } },
    });
    giveUnik(draft, "alice", "cat", { type: "2" });
    apply(draft, update(alive, { cost: 100n }), V2);
    expect(balance(draft, "alice")).toBe(899n);
    expect(walletNamed(draft, "delegate").attributes.delegate?.voteBalance).toBe(1000n);
  });

  test("The token of the factory itself can be updated.", () => {
    const draft = stateWithFactory({ factory: rich });
    apply(draft, certifiedUpdate("factory", unik("factory", { x: "y" }), { cost: 100n }), V1);
    expect(balance(draft, "factory")).toBe(999n);
    expect(held(draft, "factory")).toEqual([tokenId("factory")]);
  });
});
