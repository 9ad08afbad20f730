/** Delegates by unik and the votes for them (transactions-rules.md 7.2 to 7.4). */

import type { ShownAttributes } from "@uniknode/ledger";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  apply,
  networkWith,
  publicKeyOf,
  refusalOf,
  someDelegate,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";
import { putWallet } from "../../test-support/holdings.ts";
import { giveUnik, propertyOf, tokenId, unik } from "../../test-support/uniks.ts";

const rich = { balance: 1000n };
const BADGE = "Badges/NP/Delegate";

const register = (name = "cat") =>
  transactionOf("2001/1", "alice", { asset: { delegate: { username: tokenId(name) } } });
const resign = (sender = "alice") => transactionOf("2001/2", sender);
const vote = (sign: "+" | "-", sender = "alice") =>
  transactionOf("2001/5", sender, { asset: { votes: [`${sign}${publicKeyOf("delegate")}`] } });

describe("registration", () => {
  function stateWithCat(properties: Record<string, string> = { type: "2", explicitValues: "cat" }) {
    const draft = stateOf({ alice: rich, bob: rich });
    giveUnik(draft, "alice", "cat", properties);
    return draft;
  }

  test("A registration creates a delegate with the name and type of the token, and sets the badge.", () => {
    const draft = stateWithCat();
    apply(draft, register());
    expect(walletNamed(draft, "alice").attributes.delegate).toEqual(
      someDelegate({ username: tokenId("cat"), type: 2 }),
    );
    expect(draft.get("usernames", tokenId("cat"))).toBe(addressOfName("alice"));
    expect(propertyOf(draft, "cat", BADGE)).toBe("true");
    expect(draft.get("tokens", tokenId("cat"))?.lastTransaction).toBe("mint");
  });

  test("Trap B2: after a revert, a registration can be applied again.", () => {
    const draft = stateWithCat();
    const mark = draft.mark();
    apply(draft, register());
    draft.rollback(mark);
    expect(walletNamed(draft, "alice").attributes.delegate).toBeUndefined();
    expect(propertyOf(draft, "cat", BADGE)).toBeUndefined();
    apply(draft, register());
  });

  test("The type of a registration is the one in the wallet.", () => {
    const draft = stateWithCat({ type: "1", explicitValues: "cat" });
    draft.set("properties", `${tokenId("cat")}/type`, "2");
    apply(draft, register());
    expect(walletNamed(draft, "alice").attributes.delegate?.type).toBe(1);
  });

  test("A registration refuses in the order of its section.", () => {
    expect(refusalOf(stateOf({ alice: rich }), register())).toBe("NoUnikError");

    const several = stateWithCat({ type: "3" });
    giveUnik(several, "alice", "dog");
    expect(refusalOf(several, register("other"))).toBe("NftOwnerError");
    expect(refusalOf(several, register())).toBe("CryptoAccountHasSeveralUniksError");

    expect(refusalOf(stateWithCat({ type: "3" }), register())).toBe("UnikNameNotDisclosedError");
    expect(refusalOf(stateWithCat({ type: "3", explicitValues: "" }), register())).toBe(
      "UnikNameNotDisclosedError",
    );
    const ofNetwork = stateWithCat({ type: "3", explicitValues: "cat" });
    expect(refusalOf(ofNetwork, { ...register(), nonce: 9n })).toBe("InvalidUnikTypeError");
    expect(refusalOf(stateWithCat(), { ...register(), nonce: 9n })).toBe("UnexpectedNonceError");
  });

  test("The unik of a network must be on the list for a registration.", () => {
    const listed = networkWith([], { delegateWhitelistUniks: [tokenId("cat")] });
    const draft = stateWithCat({ type: "3", explicitValues: "cat" });
    expect(refusalOf(draft, register(), { network: listed })).toBe("");
  });

  test("Trap A9: values without a certification disclose the token.", () => {
    const draft = stateWithCat({ type: "1" });
    const asset = { nft: unik("cat", { explicitValues: "mine" }) };
    apply(draft, transactionOf("2000/1", "alice", { asset }));
    expect(refusalOf(draft, { ...register(), nonce: 2n })).toBe("");
  });

  test("Trap A14: a resigned delegate stays one, and its username stays in use permanently.", () => {
    const draft = stateWithCat();
    apply(draft, register());
    putWallet(draft, {
      ...walletNamed(draft, "alice"),
      attributes: {
        ...walletNamed(draft, "alice").attributes,
        delegate: someDelegate({ username: tokenId("cat"), resigned: true }),
      },
    });
    expect(refusalOf(draft, { ...register(), nonce: 2n })).toBe("WalletIsAlreadyDelegateError");
    // The name is taken for the next owner of the token.
    const asset = { nft: unik("cat") };
    const recipientId = addressOfName("bob");
    apply(draft, transactionOf("2000/2", "alice", { asset, recipientId, nonce: 2n }));
    const fromBob = transactionOf("2001/1", "bob", { asset: present(register().asset, "asset") });
    expect(refusalOf(draft, fromBob)).toBe("WalletUsernameAlreadyRegisteredError");
  });

  test("A registration ignores the switch of the core type.", () => {
    const off = networkWith([], { transactionsConfig: { delegateRegistration: { enable: false } } });
    expect(refusalOf(stateWithCat(), register(), { network: off })).toBe("");
  });
});

describe("resignation", () => {
  const delegates = {
    d1: { attributes: { delegate: someDelegate({ username: "d1" }) } },
    d2: { attributes: { delegate: someDelegate({ username: "d2" }) } },
    d3: { attributes: { delegate: someDelegate({ username: "d3" }) } },
  };

  function stateWithDelegate(badge?: string, members: ShownAttributes = {}) {
    const delegate = someDelegate({ username: tokenId("cat"), type: 1 });
    const draft = stateOf({ ...delegates, alice: { ...rich, attributes: { delegate, ...members } } });
    giveUnik(draft, "alice", "cat", { type: "1", ...(badge !== undefined && { [BADGE]: badge }) });
    return draft;
  }

  test("A resignation marks the delegate and removes the badge.", () => {
    const draft = stateWithDelegate("true");
    apply(draft, resign());
    expect(walletNamed(draft, "alice").attributes.delegate?.resigned).toBe(true);
    expect(propertyOf(draft, "cat", BADGE)).toBe("false");
    expect(draft.get("tokens", tokenId("cat"))?.lastTransaction).toBe("mint");
  });

  test("A resignation refuses wallets that are not delegates or have no badge, then as the core type does.", () => {
    expect(refusalOf(stateOf({ alice: rich }), resign())).toBe("CryptoAccountNotADelegateError");
    expect(refusalOf(stateWithDelegate(), resign())).toBe("CryptoAccountNotADelegateError");
    expect(refusalOf(stateWithDelegate("false"), resign())).toBe("CryptoAccountNotADelegateError");
    expect(refusalOf(stateWithDelegate("true"), { ...resign(), nonce: 9n })).toBe("UnexpectedNonceError");
    const resigned = someDelegate({ username: tokenId("cat"), resigned: true });
    expect(refusalOf(stateWithDelegate("true", { delegate: resigned }), resign())).toBe(
      "WalletAlreadyResignedError",
    );
    const four = networkWith([{ height: 1, activeDelegates: 4 }]);
    expect(refusalOf(stateWithDelegate("true"), resign(), { network: four })).toBe("NotEnoughDelegatesError");
  });

  test("Genesis delegates can never resign.", () => {
    const draft = stateOf({ ...delegates, alice: rich, bob: { attributes: delegates.d1.attributes } });
    expect(refusalOf(draft, resign("d1"))).toBe("CryptoAccountNotADelegateError");
  });

  test("A resignation is inactive before aip11, and ignores the switch of the core type.", () => {
    const off = networkWith([], { transactionsConfig: { delegateResignation: { enable: false } } });
    expect(refusalOf(stateWithDelegate("true"), resign(), { network: off })).toBe("");
    const early = networkWith([{ height: 1, aip11: false }]);
    expect(refusalOf(stateWithDelegate("true"), resign(), { network: early })).toBe(
      "DeactivatedTransactionHandlerError",
    );
  });
});

describe("vote", () => {
  function stateWithDelegate(type?: number, attributes: ShownAttributes = {}, resigned?: true) {
    const delegate = someDelegate({ ...(type && { type }), ...(resigned && { resigned }) });
    return stateOf({ alice: { ...rich, attributes }, delegate: { attributes: { delegate } } });
  }
  const voted: ShownAttributes = { vote: publicKeyOf("delegate") };

  test("A delegate can be voted and unvoted, and the vote adds the wallet's balance.", () => {
    const draft = stateWithDelegate(1);
    giveUnik(draft, "alice", "cat");
    apply(draft, vote("+"));
    expect(walletNamed(draft, "alice").attributes.vote).toBe(publicKeyOf("delegate"));
    expect(walletNamed(draft, "delegate").attributes.delegate?.voteBalance).toBe(999n);
    apply(draft, { ...vote("-"), nonce: 2n });
    expect(walletNamed(draft, "alice").attributes.vote).toBeUndefined();
    expect(walletNamed(draft, "delegate").attributes.delegate?.voteBalance).toBe(0n);
  });

  test("A vote needs a token.", () => {
    expect(refusalOf(stateWithDelegate(1), vote("+"))).toBe("NoUnikError");
  });

  test("Trap A7: the first token determines the type, and one sent to its own sender is moved to the end.", () => {
    const draft = stateWithDelegate(2);
    giveUnik(draft, "alice", "cat", { type: "1" });
    giveUnik(draft, "alice", "dog", { type: "2" });
    expect(refusalOf(draft, vote("+"))).toBe("VoteUnikTypeError");
    const asset = { nft: unik("cat") };
    apply(draft, transactionOf("2000/2", "alice", { asset, recipientId: addressOfName("alice") }));
    expect(refusalOf(draft, { ...vote("+"), nonce: 2n })).toBe("");
  });

  test("Trap A7: genesis delegates can be neither voted nor unvoted.", () => {
    const draft = stateWithDelegate();
    giveUnik(draft, "alice", "cat");
    expect(refusalOf(draft, vote("+"))).toBe("VoteUnikTypeError");
    const stuck = stateWithDelegate(undefined, voted);
    giveUnik(stuck, "alice", "cat");
    expect(refusalOf(stuck, vote("-"))).toBe("VoteUnikTypeError");
  });

  test.each([Number.NaN, null])(
    "A type that is no number is refused before and after it was stored (%s).",
    (type) => {
      const draft = stateWithDelegate(type as number);
      giveUnik(draft, "alice", "cat", { type: `${type}` });
      expect(refusalOf(draft, vote("+"))).toBe("VoteUnikTypeError");
    },
  );

  test("Trap A7: a vote whose type no longer matches cannot be removed.", () => {
    const draft = stateWithDelegate(2, voted);
    giveUnik(draft, "alice", "cat", { type: "1" });
    expect(refusalOf(draft, vote("-"))).toBe("VoteUnikTypeError");
  });

  test("A wallet that is not a delegate has no type for a vote either.", () => {
    const draft = stateOf({ alice: rich });
    giveUnik(draft, "alice", "cat");
    expect(refusalOf(draft, vote("+"))).toBe("VoteUnikTypeError");
  });

  test("Trap A16: a resigned delegate can be unvoted but not voted.", () => {
    const draft = stateWithDelegate(1, {}, true);
    giveUnik(draft, "alice", "cat");
    expect(refusalOf(draft, vote("+"))).toBe("VotedForResignedDelegateError");
    const voting = stateWithDelegate(1, voted, true);
    giveUnik(voting, "alice", "cat");
    expect(refusalOf(voting, vote("-"))).toBe("");
  });

  test("A vote is active although core votes are not, and then refuses as they do.", () => {
    const unsOnly = networkWith([{ height: 2, disableArkLegacyVote: true }]);
    const draft = stateWithDelegate(1, voted);
    giveUnik(draft, "alice", "cat");
    expect(refusalOf(draft, vote("+"), { network: unsOnly })).toBe("AlreadyVotedError");
  });
});
