/** Tests of the simulation's checks: a simulation without findings is only worth as much as its checks. */
import { describe, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { present } from "../../src/platform/present.ts";
import type { Arrival, Message } from "../../test-support/faults/actors/receiver.ts";
import type { Period, Replay } from "../../test-support/faults/checks/case.ts";
import type { ChainBlock, Change } from "../../test-support/faults/checks/chronicle.ts";
import { kindsOf } from "../../test-support/faults/checks/kinds.ts";
import { judge } from "../../test-support/faults/checks/verdict.ts";

const people = deriveAccounts("test test test test test test test test test test test junk", 30);
const GENERATOR = people("generator");
const kinds = kindsOf(people("watched"));
const kindNamed = (name: string) => present(kinds.find((kind) => kind.name === name));

const block = (height: number, branch = ""): ChainBlock => ({
  height,
  id: `block${height}${branch}`,
  generator: GENERATOR.publicKey,
  transactions: [
    {
      id: `tx${height}`,
      type: "1/0",
      sender: people("sender").publicKey,
      recipient: "recipient",
      amount: 1,
      vendorField: null,
      asset: null,
      isFirst: false,
    },
  ],
});
const applied = (position: number, block: ChainBlock): Change => ({ position, kind: "applied", block });
const reverted = (position: number, block: ChainBlock): Change => ({ position, kind: "reverted", block });

/** Three blocks, of which the last is replaced by another. */
const CHANGES = [
  applied(1, block(1)),
  applied(2, block(2)),
  applied(3, block(3)),
  reverted(4, block(3)),
  applied(5, block(3, "b")),
];

const message = (sequence: number, event: string, block: ChainBlock, reverts?: string): Message => ({
  event,
  id: `msg_${sequence}`,
  webhookId: 1,
  sequence,
  height: block.height,
  blockId: block.id,
  data: { id: block.id },
  ...(reverts && { reverts }),
});
const arrival = (message: Message): Arrival => ({
  message,
  id: message.id,
  body: JSON.stringify(message),
  isVerified: true,
});

/** Deliveries of a receiver of every block. */
const GOOD = [
  message(1, "block.applied", block(1)),
  message(2, "block.applied", block(2)),
  message(3, "block.applied", block(3)),
  message(4, "block.reverted", block(3), "msg_3"),
  message(5, "block.applied", block(3, "b")),
].map(arrival);

const faultsOf = (
  arrivals: readonly Arrival[],
  {
    kind = "every block",
    notBefore = 0,
    fullyFrom = 0,
    cancelled = [] as [string, number][],
    replays = [] as Replay[],
  } = {},
) => {
  const period: Period = { kind: kindNamed(kind), notBefore, fullyFrom };
  return judge({
    arrivals,
    periods: [period],
    replays,
    changes: CHANGES,
    cancelled: new Map(cancelled),
    wallets: new Map(),
  });
};

const without = (index: number) => GOOD.toSpliced(index, 1);
const changed = (index: number, changes: Partial<Message>) =>
  GOOD.with(index, arrival({ ...present(GOOD[index]).message, ...changes }));

describe("the checks", () => {
  test("accept correct deliveries, once or twice", () => {
    expect(faultsOf(GOOD)).toEqual([]);
    expect(faultsOf(GOOD.flatMap((arrival) => [arrival, arrival]))).toEqual([]);
  });

  test("accept that a fact is missing that was cancelled because of a revert", () => {
    expect(faultsOf(without(2), { cancelled: [["msg_3", 3]] })).toEqual([]);
    expect(
      faultsOf([...without(2).toSpliced(2, 1)], {
        cancelled: [
          ["msg_3", 3],
          ["msg_4", 4],
        ],
      }),
    ).toEqual([]);
  });

  test("require nothing from before the registration", () => {
    expect(
      faultsOf(
        GOOD.slice(1).map((given, index) => arrival({ ...given.message, sequence: index + 1 })),
        { notBefore: 1, fullyFrom: 1 },
      ),
    ).toEqual([]);
    expect(faultsOf(GOOD, { notBefore: 1, fullyFrom: 1 })).not.toEqual([]);
  });

  test.each<[string, readonly Arrival[], string]>([
    ["a missing fact", without(0), "block.applied block1 at height 1 never arrived"],
    ["a missing number", without(4), "block.applied block3b at height 3 never arrived"],
    ["a fact that is not retracted", without(3), "was undone, and never retracted"],
    [
      "a fact delivered with two ids",
      [...GOOD, arrival(message(6, "block.applied", block(1)))],
      "no (further) fact",
    ],
    ["an invented fact", [...GOOD, arrival(message(6, "block.applied", block(9)))], "no (further) fact"],
    [
      "a fact without a subscription",
      [...GOOD, arrival({ ...message(6, "transaction.applied", block(1)), data: { id: "tx1" } })],
      "does not subscribe",
    ],
    [
      "a retraction of a fact that is still true",
      [...GOOD, arrival(message(6, "block.reverted", block(2), "msg_2"))],
      "what is still true",
    ],
    [
      "a second end",
      [...GOOD, arrival(message(6, "block.reverted", block(3), "msg_3"))],
      "is retracted twice",
    ],
    [
      "a retraction of an unknown fact",
      changed(3, { reverts: "msg_99" }),
      "retracts msg_99, which never arrived",
    ],
    [
      "a retraction of a fact of another block",
      changed(3, { blockId: "block3b" }),
      "a fact of another block",
    ],
    [
      "a fact that is delivered again after its retraction",
      [...GOOD, present(GOOD[2])],
      "arrived again after msg_4",
    ],
    ["an end numbered before its fact", changed(3, { sequence: 0 }), "has a smaller number"],
    [
      "numbers against the order of the chain",
      [
        arrival({ ...present(GOOD[0]).message, sequence: 2 }),
        arrival({ ...present(GOOD[1]).message, sequence: 1 }),
        ...GOOD.slice(2),
      ],
      "is numbered after",
    ],
    ["one number for two", changed(1, { sequence: 1 }), "number 1 is that of"],
    ["a delivery without id", GOOD.with(0, { ...present(GOOD[0]), id: undefined }), "has no proper id"],
    [
      "a delivery that does not verify",
      GOOD.with(0, { ...present(GOOD[0]), isVerified: false }),
      "does not verify",
    ],
    ["two bodies", [...GOOD, { ...present(GOOD[0]), body: "{}" }], "arrived with two bodies"],
  ])("finds %s", (_what, arrivals, fault) => {
    expect(faultsOf(arrivals)).toContainEqual(expect.stringContaining(fault));
  });

  test("detect a premature delivery to a strict receiver", () => {
    const kind = "twelve confirmations, strict";
    const deep = [
      ...CHANGES,
      ...Array.from({ length: 20 }, (_, index) => applied(6 + index, block(4 + index))),
    ];
    const messages = [1, 2].flatMap((height) => [
      { ...message(2 * height - 1, "transaction.applied", block(height)), data: { id: `tx${height}` } },
      message(2 * height, "block.applied", block(height)),
    ]);
    const judgeOf = (arrivals: readonly Arrival[]) =>
      judge({
        arrivals,
        periods: [{ kind: kindNamed(kind), notBefore: 0, fullyFrom: 100 }],
        replays: [],
        changes: deep,
        cancelled: new Map(),
        wallets: new Map(),
      });
    const good = messages.map(arrival);
    expect(judgeOf(good)).toEqual([]);
    expect(judgeOf([present(good[1]), present(good[0]), present(good[2]), present(good[3])])).toContainEqual(
      expect.stringContaining("arrived before a smaller number"),
    );
  });

  test("distinguish optional and required deliveries of a webhook with a replay", () => {
    const after = { notBefore: 5, fullyFrom: 5 };
    const past = (requestedAt: number, isFinished?: true) => ({
      ...after,
      // The missing delivery has a number nevertheless.
      cancelled: GOOD.map(({ message }): [string, number] => [message.id, present(message.sequence)]),
      replays: [{ fromHeight: 2, toHeight: 3, requestedAt, ...(isFinished && { isFinished }) }],
    });
    const [first, second, undone, , third] = GOOD;
    expect(faultsOf([present(third), present(second)], past(5))).toEqual([]);
    expect(faultsOf([], past(5))).toEqual([]);
    expect(faultsOf([present(second)], past(5, true))).toEqual([
      "block.applied block3b at height 3 never arrived",
    ]);
    expect(faultsOf([present(third), present(second), present(first)], past(5))).toEqual([
      expect.stringContaining("does not subscribe"),
    ]);
    // The third block was reverted before the replay was requested.
    expect(faultsOf([present(undone), present(GOOD[3]), present(third)], past(3))).toEqual([]);
    expect(faultsOf([present(undone), present(GOOD[3])], past(4))).toEqual([
      expect.stringContaining("does not subscribe"),
    ]);
  });

  test("detect a fact that was delivered with too few confirmations", () => {
    const delivered = { ...message(1, "transaction.applied", block(3, "b")), data: { id: "tx3" } };
    expect(faultsOf([arrival(delivered)], { kind: "three confirmations" })).toContainEqual(
      expect.stringContaining("does not subscribe"),
    );
  });

  test("detect that a subscribed revert is missing", () => {
    const delivered = { ...message(1, "transaction.reverted", block(3)), data: { id: "tx3" } };
    expect(faultsOf([arrival(delivered)], { kind: "reversals only" })).toEqual([]);
    expect(faultsOf([], { kind: "reversals only" })).toEqual(["transaction.reverted tx3 never arrived"]);
  });

  test("detect past facts in another order than they happened, but allow each replay to start again", () => {
    const delivered = [block(2), block(1)].map((block, index) =>
      arrival(message(index + 1, "block.applied", block)),
    );
    const replay = (fromHeight: number): Replay => ({ fromHeight, toHeight: 2, requestedAt: 5 });
    const after = { notBefore: 5, fullyFrom: 5 };
    expect(faultsOf(delivered, { ...after, replays: [replay(1)] })).toEqual([
      "msg_2 (block.applied) is numbered after msg_1",
    ]);
    expect(faultsOf(delivered, { ...after, replays: [replay(2), replay(1)] })).toEqual([]);
  });

  test("require order of a returned strict webhook from its return on", () => {
    const kind = kindNamed("ledger, strict");
    const changes = [1, 2, 3, 4].map((height) => applied(height, block(height)));
    const delivered = [2, 3, 4].map((height) => arrival(message(height, "block.applied", block(height))));
    const judgeOf = (arrivals: readonly Arrival[], fullyFrom: number) =>
      judge({
        arrivals,
        periods: [
          { kind, notBefore: 0, fullyFrom: 0 },
          { kind, notBefore: 0, fullyFrom },
        ],
        replays: [],
        changes,
        cancelled: new Map(),
        wallets: new Map(),
      }).filter((fault) => fault.includes("smaller number"));
    const [second, third, fourth] = delivered;
    expect(judgeOf([present(third), present(second), present(fourth)], 2)).toEqual([]);
    expect(judgeOf([present(second), present(fourth), present(third)], 2)).toEqual([
      "msg_4 (block.applied) arrived before a smaller number",
    ]);
  });

  const voter = people("voter");
  const newcomer = people("newcomer");
  const first = block(1);
  const election: ChainBlock = {
    ...first,
    transactions: [
      {
        ...present(first.transactions[0]),
        id: "vote",
        type: "2001/5",
        sender: voter.publicKey,
        recipient: null,
        asset: { votes: ["+02"] },
      },
      {
        ...present(first.transactions[0]),
        id: "registration",
        type: "2001/1",
        sender: voter.publicKey,
        recipient: null,
      },
      {
        ...present(first.transactions[0]),
        id: "payment",
        sender: voter.publicKey,
        recipient: newcomer.address,
        isFirst: true,
      },
    ],
  };
  const wallet = (address: string, balance = "5") => ({ address, balance, nonce: "3" });
  /** Deliveries of a receiver of wallets and delegates; a delegate changes with its votes. */
  const ELECTION = [
    ["wallet.vote", { delegate: "+02", transaction: { id: "vote" } }],
    ["delegate.registered", { id: "registration" }],
    ["wallet.created.cold", wallet(newcomer.address)],
    ...[GENERATOR, voter, newcomer, people("delegate")].map(({ address }) => [
      "wallet.saved",
      wallet(address),
    ]),
  ].map(([event, data], index) => arrival({ ...message(index + 1, String(event), election), data }));

  const faultsOfElection = (arrivals: readonly Arrival[], balance = "5") =>
    judge({
      arrivals,
      periods: [{ kind: kindNamed("wallets and delegates"), notBefore: 0, fullyFrom: 0 }],
      replays: [],
      changes: [applied(1, election)],
      cancelled: new Map(),
      wallets: new Map([
        [voter.address, wallet(voter.address, balance)],
        ...[GENERATOR, newcomer, people("delegate")].map(
          ({ address }): [string, ReturnType<typeof wallet>] => [address, wallet(address)],
        ),
      ]),
    });

  test("accept correct deliveries of wallets and delegates", () => {
    expect(faultsOfElection(ELECTION)).toEqual([]);
  });

  test.each([0, 1, 2, 3, 4, 5])("detect that number %i is missing", (index) => {
    const { event } = present(ELECTION[index]).message;
    const faults = faultsOfElection(ELECTION.toSpliced(index, 1));
    expect(faults).toContainEqual(expect.stringMatching(`^${event} .* never arrived$`));
  });

  test("detect a wallet that is delivered twice, and one whose last delivered balance is wrong", () => {
    const again = arrival({ ...present(ELECTION[4]).message, id: "msg_9", sequence: 8 });
    expect(faultsOfElection([...ELECTION, again])).toEqual([expect.stringContaining("no (further) fact")]);
    expect(faultsOfElection(ELECTION, "6")).toEqual([
      `msg_5 has the balance 5 of the wallet ${voter.address}, which has 6`,
    ]);
  });
});
