/** Tests of the checks of a cluster: a run without findings is only worth as much as its checks. */
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { Arrival } from "../../test-support/faults/actors/receiver.ts";
import { judgeReads, OwnersCheck, type Read } from "../../test-support/faults/cluster/observers.ts";
import {
  findDuplicates,
  judgeWebhook,
  type RecordedDelivery,
} from "../../test-support/faults/cluster/verdict.ts";
import { arrival, CHANGES, kindNamed, MESSAGES, withFault } from "./three-blocks.ts";

type Given = { readonly epoch?: number; readonly second?: number; readonly isAccepted?: boolean };

/** A call of a delivery; its second is its sequence, unless it is given. */
const call = (sequence: number, { second = sequence, ...more }: Given = {}): Arrival =>
  arrival(present(MESSAGES[sequence - 1]), { sentSeconds: second, ...more });
const CALLS = [1, 2, 3, 4, 5].map((sequence) => call(sequence));

const recordedOf = (sequence: number): RecordedDelivery => {
  const { id, event, reverts = null } = present(MESSAGES[sequence - 1]);
  const attempts = [{ seconds: sequence, isSuccess: true }];
  return { id, sequence, event, reverts, state: "delivered", reason: null, attempts };
};
const RECORDED = [1, 2, 3, 4, 5].map(recordedOf);

function verdictOf(arrivals: Arrival[], recorded = RECORDED) {
  const wanted = RECORDED.map((delivery) => ({ ...delivery, webhook: 1 }));
  const chain = { changes: CHANGES, wallets: new Map() };
  const strict = { ...kindNamed("every block"), isStrict: true };
  const last = { kind: strict, notBefore: 0, fullyFrom: 0 };
  const webhook = { id: 1, last, periods: [last], receiver: { arrivals, refused: 0 } };
  return judgeWebhook(webhook, { ...chain, wanted, recorded });
}

describe("the checks of a webhook", () => {
  test("The checks of a webhook accept correct deliveries.", () => {
    expect(verdictOf(CALLS)).toEqual({
      counts: { expected: 5, arrived: 5, repeated: 0, late: 0 },
      faults: [],
    });
  });

  test("The checks of a webhook accept the call in progress of a former owner, and its late call.", () => {
    const [first, second, ...rest] = CALLS.map(({ message }) => call(Number(message.sequence), { epoch: 2 }));
    const inProgress = call(2, { second: 0 });
    expect(verdictOf([call(1), inProgress, present(second), ...rest]).faults).toEqual([]);
    const late = verdictOf([present(first), present(second), inProgress, ...rest]);
    expect(late).toMatchObject({ counts: { repeated: 1, late: 1 }, faults: [] });
  });

  test("The checks of a webhook find a delivery that never arrived, even if it was recorded.", () => {
    const { counts, faults } = verdictOf(CALLS.toSpliced(4, 1));
    expect(counts).toMatchObject({ expected: 5, arrived: 4 });
    expect(faults).toEqual(withFault("msg_5 (block.applied, sequence 5) is delivered, and never"));
    const refused = verdictOf(CALLS.with(4, call(5, { isAccepted: false })));
    expect(refused.faults).toEqual(withFault("is delivered, and never arrived"));
  });

  test("The checks of a webhook find deliveries that a node would not send, or would number differently.", () => {
    const other = { ...call(5), message: { ...call(5).message, id: "msg_6" }, id: "msg_6" };
    expect(verdictOf([...CALLS, other]).faults).toEqual(withFault("msg_6 (block.applied) arrived"));
    const swapped = [...RECORDED.slice(0, 3), { ...recordedOf(5), sequence: 4 }];
    expect(verdictOf(CALLS, swapped).faults).toEqual(
      withFault("recorded 4 msg_5 block.applied, where a node has 4 msg_4 block.reverted of msg_3"),
    );
  });

  test("The checks of a webhook find deliveries that have not ended.", () => {
    const pending = RECORDED.with(4, { ...recordedOf(5), state: "pending", reason: "HTTP 500" });
    expect(verdictOf(CALLS, pending).faults).toEqual(withFault("msg_5 is pending: HTTP 500"));
  });

  test("The checks of a webhook find an order that is not that of the sequences.", () => {
    expect(verdictOf([call(2), call(1), ...CALLS.slice(2)]).faults).toEqual([
      expect.stringContaining("msg_2 (block.applied) arrived before a smaller number"),
    ]);
  });
});

const STRICT = { isStrict: true };
const PARALLEL = { isStrict: false };

describe("the check of repeated calls", () => {
  test("The check of repeated calls finds a call after the recorded success.", () => {
    expect(findDuplicates([...CALLS, call(2, { second: 9 })], RECORDED, PARALLEL)).toEqual({
      ...{ repeated: 1, faults: ["msg_2 arrived again after its success was recorded (epochs 1, 1)"] },
    });
  });

  test("The check accepts a late call of a former owner, but no call of its owner or a later one after the success.", () => {
    const [late, again] = [call(3, { second: 0 }), call(3, { epoch: 2, second: 9 })];
    const byNext = [4, 5].map((sequence) => call(sequence, { epoch: 2 }));
    const first = CALLS.slice(0, 3);
    expect(findDuplicates([...first, ...byNext, late], RECORDED, STRICT)).toEqual({
      ...{ repeated: 1, faults: ["msg_3 arrived again after its success was recorded (epochs 1, 1)"] },
    });
    expect(findDuplicates([...first, again, ...byNext], RECORDED, STRICT).faults).toEqual([
      "msg_3 arrived again after its success was recorded (epochs 1, 2)",
    ]);
    const inProgress = [...first, ...byNext, call(4, { second: 0 })];
    expect(findDuplicates(inProgress, RECORDED, STRICT)).toEqual({ repeated: 1, faults: [] });
  });

  test("The check of repeated calls accepts the retries of recorded failures.", () => {
    const attempts = [8, 9].map((seconds) => ({ seconds, isSuccess: seconds === 9 }));
    const failed = { ...recordedOf(1), attempts };
    const calls = [call(1, { second: 8, isAccepted: false }), call(1, { second: 9 })];
    expect(findDuplicates(calls, [failed], STRICT)).toEqual({ repeated: 1, faults: [] });
  });

  test("The check of repeated calls finds more calls without a record than a worker has in progress.", () => {
    const calls = [call(1, { second: 0 }), call(2, { second: 0 })];
    expect(findDuplicates(calls, RECORDED, PARALLEL).faults).toEqual([]);
    expect(findDuplicates(calls, RECORDED, STRICT).faults).toEqual([
      "2 calls of epoch 1 have no recorded attempt: msg_1, msg_2",
    ]);
  });
});

test("The check of owners finds two owners of one epoch, and epochs and positions that go back.", () => {
  const check = new OwnersCheck();
  const shard = (owner: string | null, epoch: number, position: number) =>
    check.look({ name: "shard 1", owner, epoch: `${epoch}`, position: `${position}` });
  shard("a", 1, 0);
  shard(null, 1, 5);
  shard("b", 2, 5);
  expect(check.faults).toEqual([]);
  shard("a", 2, 5);
  shard("a", 1, 4);
  expect(check.faults).toEqual([
    "shard 1, epoch 2 had the owners b and a",
    "shard 1 went back from epoch 2 to 1",
    "shard 1 went back from 5 to 4",
  ]);
});

test("The check of reads finds blocks that the node never had, and branches that the client had not left.", () => {
  const read = (id: string, height: number, demanded?: Read["demanded"]): Read => ({
    ...{ client: 1, block: { height, id }, demanded },
  });
  const second = { height: 2, id: "block2" };
  const third = { height: 3, id: "block3" };
  expect(judgeReads([read("block3", 3, second), read("block3b", 3, second)], CHANGES)).toEqual([]);
  expect(judgeReads([read("block9", 3), read("block3b", 3, third)], CHANGES)).toEqual([
    "client 1 received block 3 block9, which the node never had",
    "client 1 had block 3 block3, which block 3 block3b does not follow",
  ]);
});
