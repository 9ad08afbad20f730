/** Deliveries of a process that owns webhooks by lease. The ownership is in memory; the queue is a real database. */
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { Lease } from "../../../src/webhooks/delivery/lease.ts";
import {
  createSoleOwner,
  type Ownership,
  type OwnershipChange,
  type QueueChange,
} from "../../../src/webhooks/ownership.ts";
import {
  always,
  blockApplied,
  createService,
  createTestClock,
  heights,
  type Reply,
  type ServiceOptions,
  settle,
} from "../../../test-support/webhooks/support.ts";

const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 3_000;
const REFUSE = "CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'no'); END";

function open(options: ServiceOptions = {}) {
  const clock = createTestClock();
  let change: Partial<OwnershipChange> = {};
  let changes: QueueChange[] = [];
  let endMs = 0;
  const others = new Set<number>();
  const state = {
    /** True if the database of the ownership does not respond. */
    isDown: false,
    given: [] as (readonly number[])[],
    isReleased: false,
  };
  async function call<T>(work: () => T): Promise<T> {
    if (state.isDown) throw new Error("the database is down");
    return work();
  }
  const ownership: Ownership = {
    renew: () =>
      call(() => {
        const { gained = [], lost = [], surplus = [] } = change;
        for (const webhook of [...lost, ...surplus]) others.add(webhook);
        for (const webhook of gained) others.delete(webhook);
        change = {};
        endMs = clock.nowMs() + LEASE_MS;
        return { gained, lost, surplus };
      }),
    giveUp: (webhooks) => call(() => void state.given.push(webhooks)),
    release: () =>
      call(() => {
        state.isReleased = true;
      }),
    owns: (webhook) => !others.has(webhook),
    epochOf: () => 1,
    remainingMs: () => Math.max(0, endMs - clock.nowMs()),
    takeChanges: () =>
      call(() => {
        const taken = changes;
        changes = [];
        return taken;
      }),
  };
  const service = createService({ ...options, clock, ownership });
  return {
    ...service,
    clock,
    state,
    /** Changes the ownership with the next renewal. */
    async change(next: Partial<OwnershipChange>) {
      change = next;
      await clock.advance(RENEW_EVERY_MS);
    },
    /** Reports a change of a queue by another process. */
    async report(next: QueueChange) {
      changes = [next];
      await clock.advance(200);
    },
  };
}

/** Responses that the test gives, one for each call. */
function createReplies() {
  const replies: PromiseWithResolvers<Reply>[] = [];
  return {
    reply() {
      const next = Promise.withResolvers<Reply>();
      replies.push(next);
      return next.promise;
    },
    async respond(index: number, reply: Reply) {
      present(replies[index], `call ${index}`).resolve(reply);
      await settle();
    },
  };
}

describe("a lease that is not renewed", () => {
  test("A lease that is not renewed starts no call that could exceed it, and starts it after the next renewal.", async () => {
    const { webhooks, emit, calls, clock, state } = open();
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    expect(heights(calls)).toEqual([1]);
    state.isDown = true;
    await clock.advance(3_999);
    await emit(blockApplied(2));
    expect(heights(calls)).toEqual([1, 2]);
    await clock.advance(2);
    await emit(blockApplied(3));
    await clock.advance(60_000);
    expect(heights(calls)).toEqual([1, 2]);
    state.isDown = false;
    await clock.advance(1_000);
    expect(heights(calls)).toEqual([1, 2, 3]);
  });

  test("A lease that is not renewed is logged once, and again when it is renewed.", async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const { clock, state } = open({ logger });
    state.isDown = true;
    await clock.advance(30_000);
    expect(lines.sort()).toEqual([
      "failed to read the changes of webhooks by other processes",
      "failed to renew the lease of webhooks; calls stop before it ends",
    ]);
    state.isDown = false;
    await clock.advance(1_000);
    expect(lines.slice(2).sort()).toEqual([
      "the changes of webhooks by other processes are read again",
      "the lease of webhooks is renewed again",
    ]);
  });
});

describe("a lost webhook", () => {
  test("A lost webhook gets no further call, and its running call is aborted without an outcome.", async () => {
    const { webhooks, emit, calls, log, change, clock } = open({ reply: () => "never" });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await change({ lost: [1] });
    await emit(blockApplied(2));
    await clock.advance(60_000);
    expect(heights(calls)).toEqual([1]);
    expect(log(1, 2).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["pending", []],
      ["pending", []],
    ]);
  });

  test("A lost webhook loses outcomes that are not written yet: its next owner repeats the call.", async () => {
    const { webhooks, emit, calls, log, change, clock, database } = open();
    await webhooks.register.create(always());
    database.execute(REFUSE);
    await emit(blockApplied(1));
    expect(heights(calls)).toEqual([1]);
    await change({ lost: [1] });
    database.execute("DROP TRIGGER refuse");
    await clock.advance(5_000);
    expect(log(1, 1)).toMatchObject([{ state: "pending", attempts: [] }]);
  });

  test("A lost webhook that is gained again gets the same deliveries, with the same ids.", async () => {
    const replies = createReplies();
    const { webhooks, emit, calls, log, change } = open(replies);
    await webhooks.register.create({ ...always(), order: "strict" });
    await emit(blockApplied(1), blockApplied(2));
    await change({ lost: [1] });
    await change({ gained: [1] });
    expect(heights(calls)).toEqual([1, 1]);
    expect(calls[1]?.id).toBe(calls[0]?.id);
    await replies.respond(1, 200);
    expect(heights(calls)).toEqual([1, 1, 2]);
    expect(log(1, 2).map(({ state }) => state)).toEqual(["pending", "delivered"]);
  });

  test("A lost webhook does not concern others.", async () => {
    const { webhooks, emit, calls, change } = open();
    await webhooks.register.create(always("block.applied", "https://one.example/"));
    await webhooks.register.create(always("block.applied", "https://two.example/"));
    await change({ lost: [1] });
    await emit(blockApplied(1));
    expect(calls.map(({ target }) => target)).toEqual(["https://two.example/"]);
  });
});

describe("a surplus webhook", () => {
  test("A surplus webhook is given up after its running calls, whose outcomes are recorded.", async () => {
    const replies = createReplies();
    const { webhooks, emit, calls, log, change, state } = open(replies);
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await change({ surplus: [1] });
    await emit(blockApplied(2));
    expect([heights(calls), state.given]).toEqual([[1], []]);
    await replies.respond(0, 200);
    expect([heights(calls), state.given]).toEqual([[1], [[1]]]);
    expect(log(1, 2).map(({ state }) => state)).toEqual(["pending", "delivered"]);
  });

  test("A surplus webhook without a running call is given up at once.", async () => {
    const { webhooks, change, state } = open();
    await webhooks.register.create(always());
    await change({ surplus: [1] });
    expect(state.given).toEqual([[1]]);
  });

  test("A surplus webhook is given up after the timeout of a call at the latest.", async () => {
    const { webhooks, emit, change, clock, log, database, state } = open();
    await webhooks.register.create(always());
    database.execute(REFUSE);
    await emit(blockApplied(1));
    await change({ surplus: [1] });
    await clock.advance(10_999);
    expect(state.given).toEqual([]);
    await clock.advance(1);
    expect(state.given).toEqual([[1]]);
    database.execute("DROP TRIGGER refuse");
    await clock.advance(5_000);
    expect(log(1, 1)).toMatchObject([{ state: "pending", attempts: [] }]);
  });

  test("A surplus webhook is given up with a later renewal if the database is down.", async () => {
    const replies = createReplies();
    const { webhooks, emit, change, clock, state } = open(replies);
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await change({ surplus: [1] });
    state.isDown = true;
    await replies.respond(0, 200);
    await clock.advance(5_000);
    expect(state.given).toEqual([]);
    state.isDown = false;
    await clock.advance(1_000);
    expect(state.given).toEqual([[1]]);
  });

  test("A surplus webhook that is lost and gained meanwhile is kept.", async () => {
    const replies = createReplies();
    const { webhooks, emit, calls, change, state } = open(replies);
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await change({ surplus: [1] });
    await change({ lost: [1], gained: [1] });
    expect([heights(calls), state.given]).toEqual([[1, 1], []]);
  });
});

describe("a change by another process", () => {
  test("A change of a queue by another process is read.", async () => {
    const { webhooks, emit, calls, clock, report, database } = open();
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    database.execute("UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = 1");
    await clock.advance(60_000);
    expect(heights(calls)).toEqual([1]);
    await report({ webhook: 1, isRestart: false });
    expect(heights(calls)).toEqual([1, 1]);
  });

  test("A change by another process that restarts a queue repeats its running calls.", async () => {
    const { webhooks, emit, calls, report } = open({ reply: () => "never" });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await report({ webhook: 1, isRestart: true });
    expect(heights(calls)).toEqual([1, 1]);
  });

  test("A change by another process that was possibly missed is read from the queue.", async () => {
    const { webhooks, emit, calls, clock, state, database } = open();
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    database.execute("UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL");
    await clock.advance(1_000);
    expect(heights(calls)).toEqual([1]);
    state.isDown = true;
    await clock.advance(200);
    expect(heights(calls)).toEqual([1, 1]);
  });

  test.each([
    [200, [1], "delivered"],
    [503, [1, 1], "pending"],
  ])(
    "A change that makes a running delivery due does not send it twice at once; its response is %i.",
    async (status, sent, end) => {
      const replies = createReplies();
      const { webhooks, emit, calls, clock, log, report, database } = open(replies);
      await webhooks.register.create(always());
      await emit(blockApplied(1));
      database.execute("UPDATE deliveries SET next_attempt_ms = 1");
      await report({ webhook: 1, isRestart: false });
      await clock.advance(1_000);
      expect(heights(calls)).toEqual([1]);
      await replies.respond(0, status);
      await clock.advance(10_000);
      expect(heights(calls)).toEqual(sent);
      expect(log(1, 1)).toMatchObject([{ state: end }]);
    },
  );

  test("A change that moves a running delivery to the replay lane does not send it twice at once.", async () => {
    const replies = createReplies();
    const { webhooks, emit, calls, clock, report, database } = open(replies);
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    database.execute("UPDATE deliveries SET replay = 1");
    await report({ webhook: 1, isRestart: false });
    await clock.advance(1_000);
    expect(heights(calls)).toEqual([1]);
    await replies.respond(0, 200);
    expect(heights(calls)).toEqual([1]);
  });
});

test("A close ends the running calls, records their outcomes, and then releases the webhooks.", async () => {
  const replies = createReplies();
  const { webhooks, emit, log, clock, state } = open({ ...replies, options: { closeGraceMs: 10_000 } });
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  const closed = webhooks.close();
  await settle();
  expect(state.isReleased).toBe(false);
  await replies.respond(0, 200);
  await clock.advance(0);
  await closed;
  expect([state.isReleased, log(1, 1)]).toMatchObject([true, [{ state: "delivered" }]]);
});

test("A process that owns all webhooks has no timer.", async () => {
  const unexpected = () => {
    throw new Error("unexpected");
  };
  const lease = new Lease({
    ownership: createSoleOwner(1),
    dispatcher: {} as ConstructorParameters<typeof Lease>[0]["dispatcher"],
    clock: { after: unexpected },
    onNameLost: unexpected,
    logger: { info: unexpected, warn: unexpected },
  });
  await lease.end();
  await lease.release();
});
