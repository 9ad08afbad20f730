/** Tests of the simulation's checks: a simulation without findings is only worth as much as its checks. */
import { describe, expect, test } from "vitest";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { present } from "../../src/platform/present.ts";
import { people } from "../../test-support/chain/cast.ts";
import type { Arrival, Message } from "../../test-support/faults/actors/receiver.ts";
import type { ChainBlock } from "../../test-support/faults/checks/chronicle.ts";
import type { Case, Period } from "../../test-support/faults/checks/evidence.ts";
import { judge } from "../../test-support/faults/checks/verdict.ts";
import {
  applied,
  arrival,
  block,
  CHANGES,
  GENERATOR,
  kindNamed,
  MESSAGES,
  message,
  transaction,
  transactionMessage,
  withFault,
} from "./three-blocks.ts";

const GOOD = MESSAGES.map((message) => arrival(message));
const good = (index: number) => present(GOOD[index]);

/** Judges deliveries of a webhook for every block since the first one, unless a part of the case is given. */
const judgeOf = (arrivals: readonly Arrival[], more: Partial<Case> = {}) =>
  judge({
    ...{ arrivals, replays: [], changes: CHANGES, cancelled: new Map(), wallets: new Map() },
    ...{ periods: [periodOf("every block")], ...more },
  });

const periodOf = (kind: string, fullyFrom = 0, notBefore = fullyFrom): Period => ({
  ...{ kind: kindNamed(kind), notBefore, fullyFrom },
});
const AFTER = { periods: [periodOf("every block", 5)] };
const namedKind = (kind: string) => ({ periods: [periodOf(kind)] });

const without = (index: number) => GOOD.toSpliced(index, 1);
const and = (message: Message) => [...GOOD, arrival(message)];
const changed = (index: number, changes: Partial<Message>, arrivals = GOOD) =>
  arrivals.with(index, arrival({ ...good(index).message, ...changes }));

describe("the checks", () => {
  test("The checks accept correct deliveries, once or twice.", () => {
    expect(judgeOf(GOOD)).toEqual([]);
    expect(judgeOf(GOOD.flatMap((arrival) => [arrival, arrival]))).toEqual([]);
  });

  test("The checks accept that a fact is missing that was cancelled because of a revert.", () => {
    const cancelled = new Map([["msg_3", 3]]);
    expect(judgeOf(without(2), { cancelled })).toEqual([]);
    cancelled.set("msg_4", 4);
    expect(judgeOf(without(2).toSpliced(2, 1), { cancelled })).toEqual([]);
  });

  test("The checks require nothing from before the registration.", () => {
    const since = { periods: [periodOf("every block", 1)] };
    const later = MESSAGES.slice(1).map((message, index) => arrival({ ...message, sequence: index + 1 }));
    expect(judgeOf(later, since)).toEqual([]);
    expect(judgeOf(GOOD, since)).not.toEqual([]);
  });

  test.each<[string, readonly Arrival[], string]>([
    ["a missing fact", without(0), "block.applied block1 at height 1 never arrived"],
    ["a missing number", without(4), "block.applied block3b at height 3 never arrived"],
    ["a fact that is not retracted", without(3), "was undone, and never retracted"],
    ["a fact delivered with two ids", and(message(6, "block.applied", block(1))), "no (further) fact"],
    ["an invented fact", and(message(6, "block.applied", block(9))), "no (further) fact"],
    ["a fact without a subscription", and(transactionMessage(6, block(1))), "does not subscribe"],
    [
      "a retraction of a true fact",
      and(message(6, "block.reverted", block(2), "msg_2")),
      "what is still true",
    ],
    ["a second end", and(message(6, "block.reverted", block(3), "msg_3")), "is retracted twice"],
    ["a retraction of no fact", changed(3, { reverts: "msg_99" }), "retracts msg_99, which never arrived"],
    ["a retraction of another block", changed(3, { blockId: "block3b" }), "a fact of another block"],
    ["a fact again after its retraction", [...GOOD, good(2)], "arrived again after msg_4"],
    ["an end numbered before its fact", changed(3, { sequence: 0 }), "has a smaller number"],
    ["swapped numbers", changed(0, { sequence: 2 }, changed(1, { sequence: 1 })), "is numbered after"],
    ["one number for two", changed(1, { sequence: 1 }), "number 1 is that of"],
    ["a delivery without id", GOOD.with(0, { ...good(0), id: undefined }), "has no proper id"],
    ["a delivery that does not verify", GOOD.with(0, { ...good(0), isVerified: false }), "does not verify"],
    ["two bodies", [...GOOD, { ...good(0), body: "{}" }], "arrived with two bodies"],
  ])("finds %s", (_what, arrivals, fault) => {
    expect(judgeOf(arrivals)).toEqual(withFault(fault));
  });

  test("The checks detect a premature delivery to a strict receiver.", () => {
    const more = Array.from({ length: 20 }, (_, index) => applied(6 + index, block(4 + index)));
    const delivered = [1, 2].flatMap((height) => [
      arrival(transactionMessage(2 * height - 1, block(height))),
      arrival(message(2 * height, "block.applied", block(height))),
    ]);
    const strict = {
      periods: [periodOf("twelve confirmations, strict", 100, 0)],
      changes: [...CHANGES, ...more],
    };
    expect(judgeOf(delivered, strict)).toEqual([]);
    const early = delivered.with(0, present(delivered[1])).with(1, present(delivered[0]));
    expect(judgeOf(early, strict)).toEqual(withFault("arrived before a smaller number"));
  });

  test("The checks distinguish optional and required deliveries of a webhook with a replay.", () => {
    const past = (requestedAt: number, isFinished?: true) => ({
      ...AFTER,
      // The missing delivery has a number nevertheless.
      cancelled: new Map(MESSAGES.map(({ id, sequence }) => [id, present(sequence)])),
      replays: [{ fromHeight: 2, toHeight: 3, requestedAt, ...(isFinished && { isFinished }) }],
    });
    expect(judgeOf([good(4), good(1)], past(5))).toEqual([]);
    expect(judgeOf([], past(5))).toEqual([]);
    expect(judgeOf([good(1)], past(5, true))).toEqual(["block.applied block3b at height 3 never arrived"]);
    const unsubscribed = [expect.stringContaining("does not subscribe")];
    expect(judgeOf([good(4), good(1), good(0)], past(5))).toEqual(unsubscribed);
    // The third block was reverted before the replay was requested.
    expect(judgeOf([good(2), good(3), good(4)], past(3))).toEqual([]);
    expect(judgeOf([good(2), good(3)], past(4))).toEqual(unsubscribed);
  });

  test("The checks detect a fact that was delivered with too few confirmations.", () => {
    const delivered = [arrival(transactionMessage(1, block(3, "b")))];
    expect(judgeOf(delivered, namedKind("three confirmations"))).toEqual(withFault("does not subscribe"));
  });

  test("The checks detect that a subscribed revert is missing.", () => {
    const delivered = [arrival(transactionMessage(1, block(3), "transaction.reverted"))];
    expect(judgeOf(delivered, namedKind("reversals only"))).toEqual([]);
    expect(judgeOf([], namedKind("reversals only"))).toEqual(["transaction.reverted tx3 never arrived"]);
  });

  test("The checks detect past facts in another order than they happened, but allow each replay to start again.", () => {
    const delivered = [2, 1].map((height, index) =>
      arrival(message(index + 1, "block.applied", block(height))),
    );
    const faultsSince = (...heights: number[]) =>
      judgeOf(delivered, {
        ...AFTER,
        replays: heights.map((fromHeight) => ({ fromHeight, toHeight: 2, requestedAt: 5 })),
      });
    expect(faultsSince(1)).toEqual(["msg_2 (block.applied) is numbered after msg_1"]);
    expect(faultsSince(2, 1)).toEqual([]);
  });

  test("The checks require order of a returned strict webhook from its return on.", () => {
    const changes = [1, 2, 3, 4].map((height) => applied(height, block(height)));
    const periods = [periodOf("ledger, strict"), periodOf("ledger, strict", 2, 0)];
    const disorderOf = (...heights: number[]) => {
      const arrivals = heights.map((height) => arrival(message(height, "block.applied", block(height))));
      return judgeOf(arrivals, { periods, changes }).filter((fault) => fault.includes("smaller number"));
    };
    expect(disorderOf(3, 2, 4)).toEqual([]);
    expect(disorderOf(2, 4, 3)).toEqual(["msg_4 (block.applied) arrived before a smaller number"]);
  });

  const voter = people("voter");
  const newcomer = people("newcomer");
  const sender = voter.publicKey;
  const election: ChainBlock = {
    ...block(1),
    transactions: [
      { ...transaction("vote"), type: "2001/5", sender, recipient: null, asset: { votes: ["+02"] } },
      { ...transaction("registration"), type: "2001/1", sender, recipient: null },
      { ...transaction("payment"), sender, recipient: newcomer.address, isFirst: true },
    ],
  };
  const wallet = ({ address }: DevAccount, balance = "5") => ({ address, balance, nonce: "3" });
  /** A delegate changes with its votes. */
  const accounts = [GENERATOR, voter, newcomer, people("delegate")];
  const ELECTION = [
    ["wallet.vote", { delegate: "+02", transaction: { id: "vote" } }],
    ["delegate.registered", { id: "registration" }],
    ["wallet.created.cold", wallet(newcomer)],
    ...accounts.map((account) => ["wallet.saved", wallet(account)]),
  ].map(([event, data], index) => arrival({ ...message(index + 1, String(event), election), data }));

  const faultsOfElection = (arrivals: readonly Arrival[], balance = "5") =>
    judgeOf(arrivals, {
      ...namedKind("wallets and delegates"),
      changes: [applied(1, election)],
      wallets: new Map(
        accounts.map((account) => [account.address, wallet(account, account === voter ? balance : "5")]),
      ),
    });

  test("The checks accept correct deliveries of wallets and delegates.", () => {
    expect(faultsOfElection(ELECTION)).toEqual([]);
  });

  test.each([0, 1, 2, 3, 4, 5])("The checks detect that number %i is missing.", (index) => {
    const { event } = present(ELECTION[index]).message;
    const faults = faultsOfElection(ELECTION.toSpliced(index, 1));
    expect(faults).toContainEqual(expect.stringMatching(`^${event} .* never arrived$`));
  });

  test("The checks detect a wallet that is delivered twice, and one whose last delivered balance is wrong.", () => {
    const again = arrival({ ...present(ELECTION[4]).message, id: "msg_9", sequence: 8 });
    expect(faultsOfElection([...ELECTION, again])).toEqual([expect.stringContaining("no (further) fact")]);
    expect(faultsOfElection(ELECTION, "6")).toEqual([
      `msg_5 has the balance 5 of the wallet ${voter.address}, which has 6`,
    ]);
  });
});
