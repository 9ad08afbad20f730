/** Vote balances after a transaction (transactions-rules.md 8), beyond what the core types' tests show. */

import { type Draft, moveVotes } from "@uniknode/ledger";
import { type MilestoneChange, present, type Transaction } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  apply,
  contextOn,
  networkWith,
  publicKeyOf,
  someDelegate,
  stateOf,
  transactionOf,
  walletNamed,
} from "../test-support/fixtures.ts";
import { putWallet } from "../test-support/holdings.ts";

const votingFor = (name: string) => ({ vote: publicKeyOf(name) });
const delegateNamed = (username: string, members = {}) => ({
  attributes: { delegate: someDelegate({ username, ...members }) },
});
const votesOf = (draft: Draft, name: string) =>
  present(walletNamed(draft, name).attributes.delegate, "delegate").voteBalance;

/** Alice votes for x, bob for y; the foundation for z. */
const electorate = () =>
  stateOf({
    alice: { balance: 1000n, attributes: votingFor("x") },
    bob: { attributes: votingFor("y") },
    foundation: { attributes: votingFor("z") },
    x: delegateNamed("x", { voteBalance: 1000n }),
    y: delegateNamed("y"),
    z: delegateNamed("z"),
  });

describe("the delegates of sender and recipient follow", () => {
  test("The delegates of sender and recipient follow a transfer.", () => {
    const draft = electorate();
    apply(draft, transactionOf("1/0", "alice", { amount: 100n, recipientId: addressOfName("bob") }));
    expect([votesOf(draft, "x"), votesOf(draft, "y")]).toEqual([899n, 100n]);
  });

  test("The delegates of sender and recipient follow a multi payment, payment by payment.", () => {
    const draft = electorate();
    const payments = ["bob", "alice", "bob"].map((name) => ({
      recipientId: addressOfName(name),
      amount: 10n,
    }));
    apply(draft, transactionOf("1/6", "alice", { asset: { payments } }));
    expect([votesOf(draft, "x"), votesOf(draft, "y")]).toEqual([979n, 20n]);
  });

  test("The delegates of sender and recipient follow a lock by its fee only.", () => {
    const draft = electorate();
    const lock = { secretHash: "00", expiration: { type: 2, value: 99 } };
    apply(
      draft,
      transactionOf("1/8", "alice", { amount: 100n, recipientId: addressOfName("bob"), asset: { lock } }),
    );
    expect([votesOf(draft, "x"), votesOf(draft, "y")]).toEqual([999n, 0n]);
  });

  test("The delegates of sender and recipient follow nothing without voters.", () => {
    const draft = stateOf({ alice: { balance: 1000n } });
    apply(draft, transactionOf("1/0", "alice", { amount: 1n, recipientId: addressOfName("bob") }));
    expect(draft.changes().map(({ key }) => key)).toEqual([addressOfName("alice"), addressOfName("bob")]);
  });
});

describe("a vote", () => {
  const vote = (sign: string, nonce: bigint) =>
    transactionOf("1/3", "alice", { nonce, asset: { votes: [`${sign}${publicKeyOf("x")}`] } });
  const lock = { amount: 50n, recipientId: "", secretHash: "", expiration: { type: 2, value: 99 } };

  test("A vote adds balance and locked balance, and an unvote subtracts the same.", () => {
    const attributes = { htlc: { locks: { id: lock }, lockedBalance: 50n } };
    const draft = stateOf({ alice: { balance: 1000n, attributes }, x: delegateNamed("x") });
    apply(draft, vote("+", 1n));
    expect(votesOf(draft, "x")).toBe(1049n);
    apply(draft, vote("-", 2n));
    expect(votesOf(draft, "x")).toBe(0n);
  });

  test("A vote for oneself follows its own fees.", () => {
    const draft = stateOf({ x: { balance: 1000n, ...delegateNamed("x") } });
    const own = transactionOf("1/3", "x", { asset: { votes: [`+${publicKeyOf("x")}`] } });
    apply(draft, own);
    expect(votesOf(draft, "x")).toBe(999n);
    apply(draft, transactionOf("1/0", "x", { nonce: 2n, amount: 9n, recipientId: addressOfName("bob") }));
    expect(votesOf(draft, "x")).toBe(989n);
  });
});

describe("certified transactions", () => {
  const nft = (properties: Record<string, string>) => ({ unik: { tokenId: "t", properties } });
  const mint = (properties: Record<string, string>, members = {}) =>
    transactionOf("2001/3", "alice", {
      recipientId: addressOfName("bob"),
      asset: { nft: nft(properties) },
      ...members,
    });
  const alive = (members = {}) =>
    transactionOf("2001/4", "alice", {
      recipientId: addressOfName("bob"),
      asset: { nft: nft({ "LifeCycle/Status": "3" }) },
      ...members,
    });
  const v2 = networkWith([{ height: 1, unsTokenEcoV2: true }]);

  /** Vote balances of x, y and z if only the votes are moved. */
  function moved(transaction: Transaction, network?: typeof v2, type?: number) {
    const draft = electorate();
    const alice = walletNamed(draft, "alice");
    if (type !== undefined) {
      const attributes = { ...alice.attributes, tokens: { t: { type } } };
      putWallet(draft, { ...alice, attributes });
    }
    moveVotes(transaction, contextOn(draft, network && { network }), undefined);
    return ["x", "y", "z"].map((name) => votesOf(draft, name));
  }

  test("A rewarded mint credits sender and foundation.", () => {
    expect(moved(mint({ type: "2", UnikVoucherId: "v" }))).toEqual([1020n, 0n, 100n]);
    expect(moved(mint({ type: "2", UnikVoucherId: "v" }), v2)).toEqual([1020n, 0n, 100n]);
  });

  test("A mint with voucher that is not rewarded moves nothing.", () => {
    expect(moved(mint({ type: "1", UnikVoucherId: "v" }, { fee: 0n }), v2)).toEqual([1000n, 0n, 0n]);
  });

  test("A mint without voucher is paid like a transfer.", () => {
    expect(moved(mint({ type: "1" }, { amount: 5n }))).toEqual([994n, 5n, 0n]);
    expect(moved(mint({ type: "1", UnikVoucherId: "" }, { amount: 5n }))).toEqual([994n, 5n, 0n]);
  });

  test("An alive demand of an individual under V2 is rewarded.", () => {
    expect(moved(alive(), v2, 1)).toEqual([1010n, 0n, 100n]);
  });

  test("Trap A6a: an alive demand of an organization under V2 costs no votes.", () => {
    expect(moved(alive({ amount: 5n }), v2, 2)).toEqual([1000n, 5n, 0n]);
    expect(moved(alive({ amount: 5n }), undefined, 2)).toEqual([994n, 5n, 0n]);
  });

  test("Trap A6b: the cost of a certified transfer moves no votes.", () => {
    const transfer = transactionOf("2001/6", "alice", {
      recipientId: addressOfName("bob"),
      asset: {
        nft: { unik: { tokenId: "t" } },
        certification: { payload: { sub: "", iss: "", iat: 0, cost: 500n }, signature: "" },
      },
    });
    expect(moved(transfer)).toEqual([999n, 0n, 0n]);
  });
});

describe("weighted vote balances", () => {
  const capped: MilestoneChange[] = [
    { height: 10, voterMaximumWeight: { individual: 300 } },
    { height: 20, voterMaximumWeight: false },
  ];
  const network = networkWith(capped);
  const at = (height: number) => ({ network, head: { height, timestamp: 0 } });
  const pay = (nonce: bigint) =>
    transactionOf("1/0", "alice", { nonce, amount: 1n, recipientId: addressOfName("carol") });
  const weightOf = (draft: Draft, name: string) =>
    present(walletNamed(draft, name).attributes.delegate, "delegate").weightedVoteBalance;

  test("Weighted vote balances of individuals cap every voter, those of others are the vote balance.", () => {
    for (const [type, weight] of [
      [1, 400n],
      [2, 1098n],
      [undefined, 1098n],
    ] as const) {
      const draft = stateOf({
        alice: { balance: 1000n, attributes: votingFor("x") },
        bob: { balance: 100n, attributes: votingFor("x") },
        x: delegateNamed("x", { voteBalance: 1100n, ...(type && { type }) }),
      });
      apply(draft, pay(1n), at(10));
      expect(weightOf(draft, "x"), `type ${type}`).toBe(weight);
    }
  });

  test("Weighted vote balances do not count locked amounts.", () => {
    const htlc = { locks: {}, lockedBalance: 5000n };
    const draft = stateOf({
      alice: { balance: 100n, attributes: { ...votingFor("x"), htlc } },
      x: delegateNamed("x", { type: 1 }),
    });
    apply(draft, pay(1n), at(10));
    expect(weightOf(draft, "x")).toBe(98n);
  });

  test("Weighted vote balances appear and vanish with the next transaction after the milestone.", () => {
    const draft = electorate();
    apply(draft, pay(1n), at(9));
    expect(weightOf(draft, "x")).toBeUndefined();
    apply(draft, pay(2n), at(19));
    expect(weightOf(draft, "x")).toBe(996n);
    apply(draft, pay(3n), at(20));
    expect("weightedVoteBalance" in present(walletNamed(draft, "x").attributes.delegate, "delegate")).toBe(
      false,
    );
    expect(weightOf(draft, "y")).toBeUndefined();
  });
});
