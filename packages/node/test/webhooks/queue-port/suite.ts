/** Behaviour of every implementation of the delivery queue, for one deliverer of all webhooks. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { NO_MATCHING_OBSERVER } from "../../../src/subscriptions/conditions/slices.ts";
import { DefinitionReader } from "../../../src/webhooks/matching/definitions.ts";
import type { AttemptFailure, AttemptOutcome } from "../../../src/webhooks/model/deliveries.ts";
import { ReplayWorker } from "../../../src/webhooks/replay/worker.ts";
import type { DeliveryQueue } from "../../../src/webhooks/storage/delivery-queue.ts";
import { silent } from "../../../test-support/webhooks/support.ts";
import { type Call, PAUSE_MS, startDeliverer } from "./deliverer.ts";
import { apply, NOW_MS, nextFirst, type OpenSubject, put, putReplayed, type Subject } from "./subject.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const KEEP_ALL = {
  maxAgeMs: HOUR_MS,
  maxFailedAgeMs: 2 * HOUR_MS,
  maxDeliveries: 1_000_000,
  maxWaiting: 1_000_000,
  keptBlocks: 0,
};
/** Steps that no queue of these tests needs. */
const MAX_STEPS = 100;

const success = (webhook: number, delivery: number): AttemptOutcome => ({
  webhook,
  delivery,
  attempt: { startedMs: NOW_MS, durationMs: 5, status: 200 },
  atMs: NOW_MS + 5,
});

const failure = (
  webhook: number,
  delivery: number,
  { retryAtMs, suspension, reason = "HTTP 500" }: Partial<AttemptFailure> = {},
): AttemptOutcome => ({
  ...success(webhook, delivery),
  attempt: {
    startedMs: NOW_MS,
    durationMs: 5,
    status: 500,
    response: "no",
    responseHeaders: "server: nginx",
  },
  failure: { reason, retryAtMs, suspension: suspension ?? { reason: "too long", ifFailingBeforeMs: 0 } },
});

const idsOf = (deliveries: readonly { readonly message: { readonly id: string } }[]) =>
  deliveries.map(({ message }) => message.id);

const firstIds = async (queue: DeliveryQueue, webhook: number, after = 0) =>
  idsOf(await nextFirst(queue, webhook, after, 100));

const statesOf = async (queue: DeliveryQueue, webhook: number) =>
  (await queue.log.page(webhook, {}, { limit: 100 })).records.map(({ id, state }) => [id, state]).reverse();

async function finishAll(queue: DeliveryQueue): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    if (!(await queue.finishStep(NOW_MS)).more) return;
  }
  throw new Error("the queue is never finished");
}

const numbers = (length: number) => Array.from({ length }, (_, index) => `${index}`);

export function describeDeliveryQueue(name: string, open: OpenSubject): void {
  describe(`the delivery queue of ${name}`, () => {
    let subject: Subject;
    let queue: DeliveryQueue;
    let webhook: number;
    beforeEach(async () => {
      subject = await open();
      queue = subject.queue;
      webhook = await subject.addWebhook();
    });

    describe("first attempts", () => {
      test("First attempts are returned in the order of insertion, after a number, up to the requested count.", async () => {
        const [a] = await put(subject, webhook, ["a", "b"]);
        await put(subject, webhook, ["c"]);
        expect(await firstIds(queue, webhook)).toEqual(["a", "b", "c"]);
        expect(await firstIds(queue, webhook, a)).toEqual(["b", "c"]);
        expect(idsOf(await nextFirst(queue, webhook, 0, 2))).toEqual(["a", "b"]);
      });

      test("First attempts have all data that sending needs.", async () => {
        const [fact] = await put(subject, webhook, ["fact"]);
        const [number] = await put(subject, webhook, ["a"], { height: 7, blockId: "b7", reverts: "fact" });
        const { secrets } = present(await subject.register.webhooks.find(webhook));
        expect(await nextFirst(queue, webhook, present(fact), 1)).toMatchObject([
          {
            number,
            attempts: 0,
            target: "https://receiver.example/hook",
            secrets,
            message: {
              webhook,
              id: "a",
              sequence: 2,
              event: "block.applied",
              height: 7,
              blockId: "b7",
              reverts: "fact",
              timeMs: NOW_MS,
              content: { dataText: '{"id":"a"}' },
            },
          },
        ]);
      });

      test("First attempts of a webhook with proofs have the number of blocks that a proof may contain.", async () => {
        const proving = await subject.addWebhook({ proof: true, confirmations: 23 });
        await put(subject, webhook, ["plain"]);
        await put(subject, proving, ["proven"]);
        expect((await nextFirst(queue, webhook, 0, 1))[0]).not.toHaveProperty("proofDepth");
        expect((await nextFirst(queue, proving, 0, 1))[0]).toHaveProperty("proofDepth", 23);
      });

      test("First attempts of one webhook are not returned for another, and a disabled webhook has none.", async () => {
        const other = await subject.addWebhook();
        const off = await subject.addWebhook({ enabled: false });
        await put(subject, webhook, ["a"]);
        await put(subject, other, ["b"]);
        await put(subject, off, ["c"]);
        expect(await firstIds(queue, webhook)).toEqual(["a"]);
        expect(await firstIds(queue, other)).toEqual(["b"]);
        expect(await firstIds(queue, off)).toEqual([]);
        expect(await queue.webhooks()).toEqual([webhook, other, off]);
      });
    });

    describe("an outcome", () => {
      test("An outcome of a success finishes the delivery, and its attempt is in the log.", async () => {
        const [a] = await put(subject, webhook, ["a", "b"]);
        expect(await queue.record([success(webhook, present(a))])).toEqual([
          { isCurrent: true, failures: 0 },
        ]);
        expect(await firstIds(queue, webhook)).toEqual(["b"]);
        expect((await queue.log.find(webhook, [present(a)]))[0]).toMatchObject({
          state: "delivered",
          finishedMs: NOW_MS + 5,
          attempts: [{ startedMs: NOW_MS, durationMs: 5, status: 200 }],
        });
      });

      test("An outcome that is a failure moves the delivery to the retries, ordered by due time.", async () => {
        const [a, b, c] = await put(subject, webhook, ["a", "b", "c"]);
        await queue.record([
          failure(webhook, present(a), { retryAtMs: NOW_MS + 300 }),
          failure(webhook, present(b), { retryAtMs: NOW_MS + 100 }),
          failure(webhook, present(c), { retryAtMs: NOW_MS + 200 }),
        ]);
        expect(await firstIds(queue, webhook)).toEqual([]);
        expect(await queue.states([webhook])).toEqual([
          { isStrict: false, retryAtMs: NOW_MS + 100, hasRetraction: false },
        ]);
        expect(await queue.nextRetry(webhook, NOW_MS + 99)).toBeUndefined();
        for (const [delivery, id] of [
          [b, "b"],
          [c, "c"],
          [a, "a"],
        ] as const) {
          const due = await queue.nextRetry(webhook, NOW_MS + 300);
          expect(due).toMatchObject({ number: delivery, attempts: 1, message: { id } });
          await queue.record([success(webhook, present(delivery))]);
        }
        expect(await queue.states([webhook])).toMatchObject([{ retryAtMs: undefined }]);
      });

      test("An outcome without a further attempt makes the delivery a dead letter, which can be queued again.", async () => {
        const [a] = await put(subject, webhook, ["a"]);
        await queue.record([failure(webhook, present(a), { reason: "HTTP 410" })]);
        expect((await queue.log.find(webhook, ["a"]))[0]).toMatchObject({
          state: "failed",
          reason: "HTTP 410",
        });
        expect(await queue.log.sendNow(webhook, [present(a)], NOW_MS + 50)).toBe(1);
        expect(await queue.nextRetry(webhook, NOW_MS + 50)).toMatchObject({ number: a, attempts: 0 });
      });

      test("An outcome counts consecutive failures of a webhook, over all of its deliveries.", async () => {
        const other = await subject.addWebhook();
        const [a, b, c, d] = await put(subject, webhook, ["a", "b", "c", "d"]);
        const [e] = await put(subject, other, ["e"]);
        const recorded = await queue.record([
          failure(webhook, present(a)),
          failure(webhook, present(b), { retryAtMs: NOW_MS }),
          failure(other, present(e)),
          success(webhook, present(c)),
          failure(webhook, present(d)),
        ]);
        expect(recorded.map(({ failures }) => failures)).toEqual([1, 2, 1, 0, 1]);
      });

      test("An outcome of a delivery that was cancelled or dropped meanwhile only records its attempt.", async () => {
        const { register } = subject;
        const [a] = await put(subject, webhook, ["a"]);
        await register.commands.update(webhook, { changes: {}, drop: { reason: "updated", atMs: NOW_MS } });
        const none = { isCurrent: false, failures: 0 };
        const recorded = await queue.record([
          success(webhook, present(a)),
          failure(webhook, present(a), { retryAtMs: NOW_MS }),
          success(webhook, present(a) + 1),
        ]);
        expect(recorded).toEqual([none, none, none]);
        const record = (await queue.log.find(webhook, ["a"]))[0];
        expect(record).toMatchObject({ state: "cancelled", reason: "updated" });
        expect(present(record).attempts).toHaveLength(2);
      });

      test("An outcome of a fact that was retracted meanwhile is a success, or the last attempt.", async () => {
        const { intake } = subject;
        const block = { height: 7, blockId: "b7" };
        const [a, b] = await put(subject, webhook, ["a", "b"], { ...block, isRetractable: true });
        const facts = await intake.unretracted([block], 9);
        expect(facts.map(({ id, hasSameTarget }) => [id, hasSameTarget])).toEqual([
          ["b", true],
          ["a", true],
        ]);
        await apply(
          subject,
          facts.map(({ number }) => ({ kind: "retract", number, webhook })),
        );
        await queue.record([
          success(webhook, present(a)),
          failure(webhook, present(b), { retryAtMs: NOW_MS }),
        ]);
        expect(await statesOf(queue, webhook)).toEqual([
          ["a", "delivered"],
          ["b", "cancelled"],
        ]);
        expect(await queue.log.sendNow(webhook, [present(b)], NOW_MS)).toBe(0);
        expect(await intake.unretracted([block], 9)).toEqual([]);
      });

      test("An outcome at a new target without success lets the fact be retracted there, also if its delivery is dropped.", async () => {
        const { intake, register } = subject;
        const block = { height: 7, blockId: "b7" };
        const [fact] = await put(subject, webhook, ["fact"], { ...block, isRetractable: true });
        await register.commands.update(webhook, { changes: { target: "https://other.example/" } });
        await queue.record([failure(webhook, present(fact), { retryAtMs: NOW_MS })]);
        await register.commands.update(webhook, { changes: {}, drop: { reason: "updated", atMs: NOW_MS } });
        expect(await statesOf(queue, webhook)).toEqual([["fact", "cancelled"]]);
        expect(await intake.unretracted([block], 9)).toMatchObject([{ id: "fact", hasSameTarget: true }]);
      });

      test("An outcome that was not recorded leaves the delivery first in the queue, also after a crash.", async () => {
        const [a] = await put(subject, webhook, ["a", "b"]);
        expect(await firstIds(queue, webhook)).toEqual(["a", "b"]);
        const crashed = await subject.crash();
        const [delivery] = await nextFirst(crashed.queue, webhook, 0, 1);
        expect(delivery).toMatchObject({ number: a, attempts: 0, message: { id: "a" } });
        await crashed.queue.record([failure(webhook, present(a), { retryAtMs: NOW_MS })]);
        const again = present(await (await crashed.crash()).queue.nextRetry(webhook, NOW_MS));
        expect(again).toMatchObject({ number: a, attempts: 1, message: { id: "a" } });
      });

      test("An outcome of any kind, in any order, has the same effect as on a plain list of deliveries.", async () => {
        type Known = { readonly number: number; readonly dueMs?: number };
        const step = fc.record({
          kind: fc.constantFrom("put", "succeed", "fail", "give up", "retry", "crash"),
          pauseMs: fc.integer({ min: 0, max: 5 }),
        });
        let current = subject;
        const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const own = await current.addWebhook();
          let first: Known[] = [];
          let retries: (Known & { readonly dueMs: number })[] = [];
          let clockMs = NOW_MS;
          for (const { kind, pauseMs } of steps) {
            clockMs += 1;
            const [next] = await nextFirst(current.queue, own, 0, 1);
            expect(next?.number).toBe(first[0]?.number);
            const due = retries
              .filter(({ dueMs }) => dueMs <= clockMs)
              .sort((a, b) => a.dueMs - b.dueMs)
              .at(0);
            const retry = await current.queue.nextRetry(own, clockMs);
            // The order of retries with the same time is undefined.
            const numbered = retries.find(({ number }) => number === retry?.number);
            expect(numbered?.dueMs).toBe(due?.dueMs);
            const retryAtMs = clockMs + pauseMs;
            if (kind === "put") {
              const [number] = await put(current, own, [`${own} ${clockMs}`]);
              first.push({ number: present(number) });
            } else if (kind === "crash") current = await current.crash();
            else if (kind === "retry" && numbered) {
              await current.queue.record([failure(own, numbered.number, { retryAtMs })]);
              retries = retries.filter(({ number }) => number !== numbered.number);
              retries.push({ number: numbered.number, dueMs: retryAtMs });
            } else if (kind !== "retry" && next) {
              first = first.slice(1);
              if (kind === "succeed") await current.queue.record([success(own, next.number)]);
              else {
                const isLast = kind === "give up";
                await current.queue.record([failure(own, next.number, isLast ? {} : { retryAtMs })]);
                if (!isLast) retries.push({ number: next.number, dueMs: retryAtMs });
              }
            }
          }
        });
        await fc.assert(property, { numRuns: 12 });
      });
    });

    describe("a suspension", () => {
      const suspend = () => apply(subject, [{ kind: "suspend", webhook, reason: "too expensive" }]);

      test("A suspension follows when the webhook has failed for too long, and fails the complete queue.", async () => {
        const [a, b] = await put(subject, webhook, ["a", "b", "c"]);
        const suspension = { reason: "failed for too long", ifFailingBeforeMs: NOW_MS + 5 };
        const [early] = await queue.record([failure(webhook, present(a), { retryAtMs: NOW_MS, suspension })]);
        expect(early).toEqual({ isCurrent: true, failures: 1 });
        const late = { ...suspension, ifFailingBeforeMs: NOW_MS + 6 };
        expect(
          await queue.record([failure(webhook, present(b), { retryAtMs: NOW_MS, suspension: late })]),
        ).toEqual([{ isCurrent: true, failures: 2, suspended: "failed for too long" }]);
        expect(await firstIds(queue, webhook)).toEqual([]);
        expect(await queue.nextRetry(webhook, NOW_MS)).toBeUndefined();
        expect(await queue.states([webhook])).toMatchObject([{ retryAtMs: undefined }]);
        await finishAll(queue);
        expect(await statesOf(queue, webhook)).toEqual([
          ["a", "failed"],
          ["b", "failed"],
          ["c", "failed"],
        ]);
        expect(await subject.register.webhooks.find(webhook)).toMatchObject({
          suspended: { reason: "failed for too long", sinceMs: NOW_MS + 5 },
        });
      });

      test("A suspension does not follow fewer consecutive failures than required.", async () => {
        const [a, b, c, d] = await put(subject, webhook, ["a", "b", "c", "d"]);
        const suspension = {
          reason: "failed for too long",
          ifFailingBeforeMs: NOW_MS + HOUR_MS,
          minFailures: 2,
        };
        const failOf = (delivery: number) => failure(webhook, delivery, { retryAtMs: NOW_MS, suspension });
        const early = [failOf(present(a)), success(webhook, present(b)), failOf(present(c))];
        expect(await queue.record(early)).toEqual([
          { isCurrent: true, failures: 1 },
          { isCurrent: true, failures: 0 },
          { isCurrent: true, failures: 1 },
        ]);
        expect(await queue.record([failOf(present(d))])).toMatchObject([{ suspended: suspension.reason }]);
      });

      test("A suspension can follow at once, ends the replay, and is lifted by a resumption.", async () => {
        const { register } = subject;
        const [a] = await put(subject, webhook, ["a"]);
        await queue.replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
        await queue.record([failure(webhook, present(a), { suspension: { reason: "gone" } })]);
        expect(await queue.replays.find(webhook)).toMatchObject({ state: "cancelled", reason: "gone" });
        await finishAll(queue);
        await register.commands.resume(webhook);
        await put(subject, webhook, ["b"]);
        expect(await firstIds(queue, webhook)).toEqual(["b"]);
        const [b] = await nextFirst(queue, webhook, 0, 1);
        const recorded = await queue.record([failure(webhook, present(b).number, { retryAtMs: NOW_MS })]);
        expect(recorded).toEqual([{ isCurrent: true, failures: 1 }]);
      });

      test("A suspension keeps retractions queued: a target that received a fact receives its retraction.", async () => {
        const { register } = subject;
        await put(subject, webhook, ["fact"]);
        await put(subject, webhook, ["a"], { reverts: "fact", event: "block.reverted" });
        await put(subject, webhook, ["b"]);
        await suspend();
        await finishAll(queue);
        expect(await firstIds(queue, webhook)).toEqual([]);
        await register.commands.resume(webhook);
        const [a] = await nextFirst(queue, webhook, 0, 9);
        expect(a).toMatchObject({ message: { id: "a", reverts: "fact" } });
        await queue.record([failure(webhook, present(a).number, { retryAtMs: NOW_MS })]);
        expect(await queue.states([webhook])).toMatchObject([{ retryAtMs: NOW_MS, hasRetraction: true }]);
      });

      test("A suspension of a long queue refuses to send its deliveries again until the last step, which would fail them.", async () => {
        const [a] = await put(subject, webhook, numbers(2_500));
        await suspend();
        expect(await queue.finishStep(NOW_MS)).toEqual({ more: true });
        await subject.register.commands.resume(webhook);
        const requeue = () =>
          queue.log.requeueMatching(webhook, { state: "failed" }, { after: 0, limit: 500 }, NOW_MS);
        const isEnding = { code: "QUEUE_ENDING", isRetryable: true };
        await expect(requeue()).rejects.toMatchObject(isEnding);
        await expect(queue.log.sendNow(webhook, [present(a)], NOW_MS)).rejects.toMatchObject(isEnding);
        await finishAll(queue);
        expect(await requeue()).toMatchObject({ count: 500 });
        await finishAll(queue);
        expect(await queue.log.sendNow(webhook, [present(a)], NOW_MS)).toBe(1);
      });

      test("A suspension of a long queue takes several steps; deliveries that arrive meanwhile wait, and are not lost.", async () => {
        await put(subject, webhook, numbers(2_500));
        await suspend();
        expect(await queue.finishStep(NOW_MS)).toEqual({ more: true });
        const crashed = await subject.crash();
        await crashed.register.commands.resume(webhook);
        await put(crashed, webhook, ["later"]);
        expect(await firstIds(crashed.queue, webhook)).toEqual([]);
        let steps = 0;
        while ((await crashed.queue.finishStep(NOW_MS)).webhook === undefined)
          expect(steps++).toBeLessThan(10);
        expect(await crashed.queue.finishStep(NOW_MS)).toEqual({ more: false });
        expect(await firstIds(crashed.queue, webhook)).toEqual(["later"]);
        const { records } = await crashed.queue.log.page(webhook, { state: "pending" }, { limit: 9 });
        expect(records).toHaveLength(1);
      });
    });

    describe("a replay", () => {
      test("A replay has its own lane, beside the first attempts and retries of live events.", async () => {
        const [live] = await put(subject, webhook, ["live"]);
        await putReplayed(subject, webhook, ["x", "y"]);
        await put(subject, webhook, ["more"]);
        expect(await firstIds(queue, webhook)).toEqual(["live", "more"]);
        const first = present(await queue.nextReplayed(webhook, 0));
        expect(first).toMatchObject({ position: 1, message: { id: "x" } });
        expect(first.nextAttemptMs).toBeUndefined();
        expect(await queue.nextReplayed(webhook, 1)).toMatchObject({ position: 2, message: { id: "y" } });
        expect(await queue.nextReplayed(webhook, 2)).toBeUndefined();
        await queue.record([
          failure(webhook, present(live), { retryAtMs: NOW_MS }),
          success(webhook, first.number),
        ]);
        expect(await queue.nextRetry(webhook, NOW_MS)).toMatchObject({ number: live });
        expect(await queue.nextReplayed(webhook, 0)).toMatchObject({ position: 2 });
      });

      test("A replay retries a delivery among the others, but in strict order at its position.", async () => {
        await putReplayed(subject, webhook, ["x"]);
        const x = present(await queue.nextReplayed(webhook, 0));
        await queue.record([failure(webhook, x.number, { retryAtMs: NOW_MS })]);
        expect(await queue.nextReplayed(webhook, 0)).toBeUndefined();
        expect(await queue.nextRetry(webhook, NOW_MS)).toMatchObject({ number: x.number });

        const strict = await subject.addWebhook({ order: "strict" });
        await putReplayed(subject, strict, ["y"]);
        const y = present(await queue.nextReplayed(strict, 0));
        await queue.record([failure(strict, y.number, { retryAtMs: NOW_MS + 50 })]);
        expect(await queue.nextReplayed(strict, 0)).toMatchObject({
          number: y.number,
          position: 1,
          nextAttemptMs: NOW_MS + 50,
        });
        expect(await queue.nextRetry(strict, NOW_MS + 50)).toBeUndefined();
        expect(await queue.states([strict])).toMatchObject([{ isStrict: true, retryAtMs: undefined }]);
      });

      test("A replay sends finished deliveries from before it again, and no others.", async () => {
        const [a] = await put(subject, webhook, ["a", "waiting"]);
        await queue.record([success(webhook, present(a))]);
        await putReplayed(subject, webhook, []);
        const [b] = await put(subject, webhook, ["b"]);
        await queue.record([success(webhook, present(b))]);
        await putReplayed(subject, webhook, ["a", "waiting", "b", "new"]);
        expect(await queue.nextReplayed(webhook, 0)).toMatchObject({ number: a, position: 1, attempts: 0 });
        expect(await queue.nextReplayed(webhook, 1)).toMatchObject({ position: 2, message: { id: "new" } });
        expect(await queue.nextReplayed(webhook, 2)).toBeUndefined();
        expect(await queue.replays.find(webhook)).toMatchObject({ events: 2, waiting: 2 });
      });

      test("A replay runs one at a time; it continues at its position, also after a crash, while few are queued.", async () => {
        const range = { fromHeight: 3, toHeight: 9 };
        expect(await queue.replays.find(webhook)).toBeUndefined();
        expect(await queue.replays.start(webhook, range, NOW_MS)).toBe(true);
        expect(await queue.replays.start(webhook, range, NOW_MS)).toBe(false);
        const position = { nextHeight: 5, nextIndex: 1 };
        await putReplayed(subject, webhook, ["x", "y"], position);
        const crashed = await subject.crash();
        const { replays } = crashed.queue;
        expect(await replays.find(webhook)).toMatchObject({
          ...range,
          ...position,
          state: "running",
          events: 2,
          waiting: 2,
        });
        expect(await replays.next(0, 1)).toBeUndefined();
        expect(await replays.next(0, 2)).toMatchObject({ webhook, nextHeight: 5 });
        const other = await crashed.addWebhook();
        await replays.start(other, range, NOW_MS);
        expect(await replays.next(webhook, 2)).toMatchObject({ webhook: other });
        expect(await replays.next(other, 2)).toMatchObject({ webhook });
        await replays.finish(other, NOW_MS + 9);
        expect(await replays.find(other)).toMatchObject({
          state: "finished",
          finishedMs: NOW_MS + 9,
        });
      });

      test("A replay whose webhook is paused while a step begins waits at its position.", async () => {
        const { intake, register } = subject;
        await queue.replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
        const definitions = new DefinitionReader(intake, silent);
        const worker = new ReplayWorker({
          ...{ network: "network", replays: queue.replays, intake, observer: NO_MATCHING_OBSERVER },
          history: { head: () => expect.unreachable(), eventsAt: () => expect.unreachable() },
          definitions: {
            async read() {
              await register.commands.update(webhook, { changes: { enabled: false } });
              return definitions.read();
            },
          },
          fit: () => expect.unreachable(),
          nowMs: () => NOW_MS,
          logger: silent,
        });
        expect(await worker.step()).toEqual({ more: true });
        expect(await queue.replays.find(webhook)).toMatchObject({ state: "running", nextHeight: 1 });
        expect(await worker.step()).toEqual({ more: false });
      });

      test("A replay that has read all blocks still has work when all of its deliveries are finished.", async () => {
        await queue.replays.start(webhook, { fromHeight: 1, toHeight: 2 }, NOW_MS);
        await putReplayed(subject, webhook, ["x"], { nextHeight: 3, nextIndex: 0 });
        expect(await queue.replays.next(0, 100)).toBeUndefined();
        const { number } = present(await queue.nextReplayed(webhook, 0));
        await queue.record([success(webhook, number)]);
        expect(await queue.replays.next(0, 100)).toMatchObject({ webhook });
      });

      test("A replay that is cancelled removes its deliveries from the queue, and no live one.", async () => {
        await queue.replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
        await put(subject, webhook, ["live"]);
        await putReplayed(subject, webhook, ["x", "y"]);
        await queue.replays.cancel(webhook, NOW_MS);
        expect(await queue.replays.find(webhook)).toMatchObject({ state: "cancelled", waiting: 0 });
        expect(await queue.nextReplayed(webhook, 0)).toBeUndefined();
        expect(await firstIds(queue, webhook)).toEqual(["live"]);
        expect(await queue.replays.next(0, 100)).toBeUndefined();
      });
    });

    describe("the log", () => {
      test("The log lists deliveries page by page, newest first, also with a filter.", async () => {
        const ids = await put(subject, webhook, ["a", "b", "c", "d", "e"]);
        await queue.record([success(webhook, present(ids[1])), failure(webhook, present(ids[3]))]);
        const walked: string[] = [];
        for (let before: number | undefined, isEnd = false; !isEnd; ) {
          const range = { limit: 2, ...(before !== undefined && { before }) };
          const { records, next } = await queue.log.page(webhook, {}, range);
          walked.push(...records.map(({ id }) => id));
          before = next;
          isEnd = next === undefined;
        }
        expect(walked).toEqual(["e", "d", "c", "b", "a"]);
        const filtered = async (filter: object) =>
          (await queue.log.page(webhook, filter, { limit: 9 })).records.map(({ id }) => id);
        expect(await filtered({ state: "failed" })).toEqual(["d"]);
        expect(await filtered({ state: "delivered" })).toEqual(["b"]);
        expect(await filtered({ event: "block.forged" })).toEqual([]);
        expect(await filtered({ toMs: NOW_MS - 1 })).toEqual([]);
        expect(await queue.log.message(present(ids[0]))).toMatchObject({ id: "a", timeMs: NOW_MS });
        expect((await queue.log.find(webhook, ["unknown"]))[0]).toBeUndefined();
      });

      test("The log reports recent outcomes, and the age of the oldest queued delivery, without pings and replays.", async () => {
        expect(await queue.log.latest(webhook, 9)).toEqual({ deliveries: [] });
        const [a, b] = await put(subject, webhook, ["a", "b", "c"]);
        await put(subject, await subject.addWebhook(), ["other"]);
        await queue.record([
          success(webhook, present(a)),
          failure(webhook, present(b), { retryAtMs: NOW_MS + 9 }),
        ]);
        await queue.recordPing({
          webhook,
          id: "ping",
          createdMs: NOW_MS,
          dataText: "{}",
          attempt: { startedMs: NOW_MS, durationMs: 5, status: 204 },
          finishedMs: NOW_MS + 5,
        });
        const [pending, delivered] = [
          { state: "pending", createdMs: NOW_MS },
          { state: "delivered", createdMs: NOW_MS, finishedMs: NOW_MS + 5 },
        ];
        const oldestWaitingMs = NOW_MS;
        expect(await queue.log.latest(webhook, 9)).toEqual({
          deliveries: [pending, pending, delivered],
          oldestWaitingMs,
        });
        expect(await queue.log.latest(webhook, 1)).toEqual({ deliveries: [pending], oldestWaitingMs });
      });

      test("The log sends matching deliveries again up to a number, whatever follows.", async () => {
        const ids = await put(subject, webhook, ["a", "b", "c", "d", "e"]);
        const [, b, , d] = ids;
        await queue.record(ids.slice(0, 3).map((number) => failure(webhook, number)));
        const upTo = (number: number | undefined, after = 0) => ({ after, limit: 9, upTo: present(number) });
        const { log } = queue;
        expect(await log.requeueMatching(webhook, { state: "failed" }, upTo(b), NOW_MS)).toEqual({
          count: 2,
          last: b,
        });
        expect(await log.requeueMatching(webhook, { state: "failed" }, upTo(b, b), NOW_MS)).toEqual({
          count: 0,
        });
        expect(await log.expediteMatching(webhook, "first", {}, upTo(d), NOW_MS)).toEqual({
          count: 1,
          last: d,
        });
        expect(await log.expediteMatching(webhook, "first", {}, upTo(d, d), NOW_MS)).toEqual({ count: 0 });
        expect(await statesOf(queue, webhook)).toContainEqual(["c", "failed"]);
      });

      test("The log queues failed deliveries again, range by range, without pings.", async () => {
        const ids = await put(subject, webhook, ["a", "b", "c"]);
        await queue.record(ids.map((number) => failure(webhook, number)));
        const number = await queue.recordPing({
          webhook,
          id: "ping",
          createdMs: NOW_MS,
          dataText: "{}",
          attempt: { startedMs: NOW_MS, durationMs: 5, error: "ECONNREFUSED" },
          finishedMs: NOW_MS + 5,
          failure: "ECONNREFUSED",
        });
        expect((await queue.log.find(webhook, [number]))[0]).toMatchObject({
          id: "ping",
          event: "ping",
          state: "failed",
        });
        const requeue = (after: number, sinceMs = NOW_MS) =>
          queue.log.requeueMatching(
            webhook,
            { state: "failed", fromMs: sinceMs },
            { after, limit: 2 },
            NOW_MS + 9,
          );
        expect(await requeue(0, NOW_MS + 1)).toEqual({ count: 0, last: ids[1] });
        expect(await requeue(0)).toEqual({ count: 2, last: ids[1] });
        expect(await requeue(present(ids[1]))).toEqual({ count: 1, last: number });
        expect(await requeue(number)).toEqual({ count: 0 });
        expect(await queue.states([webhook])).toMatchObject([{ retryAtMs: NOW_MS + 9 }]);
      });
    });

    describe("sending now", () => {
      test("Deliveries that are sent now overtake no pending retraction, and a retraction not its fact.", async () => {
        const [fact] = await put(subject, webhook, ["fact"]);
        const [retraction] = await put(subject, webhook, ["retraction"], { reverts: "fact" });
        const [later] = await put(subject, webhook, ["later"]);
        const selected = [present(retraction), present(later)];
        expect(await queue.log.sendNow(webhook, selected, NOW_MS)).toBe(2);
        expect(await firstIds(queue, webhook)).toEqual(["fact", "retraction", "later"]);
        await queue.record([
          success(webhook, present(fact)),
          failure(webhook, present(retraction), { retryAtMs: NOW_MS + 500 }),
        ]);
        expect(await queue.log.sendNow(webhook, selected, NOW_MS)).toBe(2);
        expect(await firstIds(queue, webhook)).toEqual(["later"]);
        expect(await queue.nextRetry(webhook, NOW_MS)).toMatchObject({ number: retraction });
        await queue.record([success(webhook, present(retraction))]);
        expect(await queue.log.sendNow(webhook, [present(later)], NOW_MS)).toBe(1);
        expect(await queue.nextRetry(webhook, NOW_MS)).toMatchObject({ number: later });
      });

      test("A delivery without an attempt that is sent now does not wait for a later retraction.", async () => {
        const [, second] = await put(subject, webhook, ["first", "second"]);
        await put(subject, webhook, ["retraction"], { reverts: "first" });
        expect(await queue.log.sendNow(webhook, [present(second)], NOW_MS)).toBe(1);
        expect(await queue.nextRetry(webhook, NOW_MS)).toMatchObject({ number: second });
        expect(await firstIds(queue, webhook)).toEqual(["first", "retraction"]);
      });
    });

    describe("retention", () => {
      async function drop(retention: Partial<typeof KEEP_ALL>, nowMs: number): Promise<void> {
        let after: number | undefined = 0;
        for (let step = 0; after !== undefined && step < MAX_STEPS; step++) {
          after = await queue.retention.dropBehind(after, { ...KEEP_ALL, ...retention }, nowMs);
        }
      }

      test("Retention drops deliveries that finished long ago, failed ones later, and never queued ones.", async () => {
        const [a, b] = await put(subject, webhook, ["a", "b", "c"]);
        await queue.record([success(webhook, present(a)), failure(webhook, present(b))]);
        await drop({}, NOW_MS + HOUR_MS - 1);
        expect(await statesOf(queue, webhook)).toHaveLength(3);
        await drop({}, NOW_MS + HOUR_MS + 9);
        expect(await statesOf(queue, webhook)).toEqual([
          ["b", "failed"],
          ["c", "pending"],
        ]);
        await drop({}, NOW_MS + 9 * HOUR_MS);
        expect(await statesOf(queue, webhook)).toEqual([["c", "pending"]]);
      });

      test("Retention keeps a bounded number of deliveries, of all webhooks together.", async () => {
        const ids = await put(subject, webhook, numbers(1_200));
        await queue.record(ids.map((number) => success(webhook, number)));
        await drop({ maxDeliveries: 50 }, NOW_MS);
        const { records, next } = await queue.log.page(webhook, {}, { limit: 100 });
        expect([records.length, next]).toEqual([50, undefined]);
        expect(present(records.at(-1)).number).toBe(ids[1_150]);
      });

      test("Retention fails the oldest first attempts of a queue that is too long, in several steps.", async () => {
        const other = await subject.addWebhook();
        await put(subject, webhook, ["a"]);
        await put(subject, other, numbers(1_203));
        expect(await queue.retention.nextOverfull(0, 3)).toEqual({ webhook: other, surplus: 1_200 });
        expect(await queue.retention.nextOverfull(other, 3)).toBeUndefined();
        for (let surplus = 1_200; surplus > 0; ) {
          const failed = await queue.retention.failSurplus({ webhook: other, surplus }, NOW_MS);
          expect(failed).toBeGreaterThan(0);
          surplus -= failed;
        }
        expect(await firstIds(queue, other)).toEqual(["1200", "1201", "1202"]);
        expect(await queue.retention.nextOverfull(0, 3)).toBeUndefined();
      });

      test("Retention drops the deliveries of a removed webhook, which are invisible at once.", async () => {
        await put(subject, webhook, numbers(1_200));
        expect(await queue.retention.dropRemoved()).toBe(false);
        await subject.register.commands.remove(webhook);
        expect(await firstIds(queue, webhook)).toEqual([]);
        expect(await queue.webhooks()).toEqual([]);
        expect(await queue.states([webhook])).toMatchObject([{ retryAtMs: undefined, hasRetraction: false }]);
        let steps = 0;
        while (await queue.retention.dropRemoved()) expect(steps++).toBeLessThan(MAX_STEPS);
        expect(steps).toBeGreaterThan(2);
        expect(await statesOf(queue, webhook)).toEqual([]);
      });
    });

    test("A change that waits for a database lock fails before it gets it, changes nothing, and can be repeated.", async () => {
      const [number] = await put(subject, webhook, ["a"]);
      const release = await subject.holdUp();
      await expect(queue.record([success(webhook, present(number))])).rejects.toThrow();
      expect(await statesOf(queue, webhook)).toEqual([["a", "pending"]]);
      await release();
      expect(await queue.record([success(webhook, present(number))])).toEqual([
        { isCurrent: true, failures: 0 },
      ]);
      expect(await statesOf(queue, webhook)).toEqual([["a", "delivered"]]);
    });

    describe("with the dispatcher", () => {
      test("A strict webhook has one request at a time, and the next one after success or the last retry.", async () => {
        const strict = await subject.addWebhook({ order: "strict" });
        await put(subject, strict, ["a", "b", "c"]);
        const { calls, clock, run } = startDeliverer(queue);
        await run();
        expect(calls).toHaveLength(1);
        await present(calls[0]).end();
        expect(calls).toHaveLength(2);
        await present(calls[1]).end("HTTP 500");
        await run();
        expect(calls).toHaveLength(2);
        await clock.advance(1_001);
        await present(calls[2]).end("HTTP 500");
        await clock.advance(1_001);
        await present(calls[3]).end("HTTP 500");
        expect(calls.map(({ delivery }) => delivery.message.id)).toEqual(["a", "b", "b", "b", "c"]);
        await present(calls[4]).end();
        expect(await statesOf(queue, strict)).toEqual([
          ["a", "delivered"],
          ["b", "failed"],
          ["c", "delivered"],
        ]);
      });

      test("Requests of a parallel webhook start in order, and none starts twice.", async () => {
        await put(subject, webhook, numbers(20));
        const { calls, run } = startDeliverer(queue);
        await run();
        while (calls.length < 20) {
          const begun = calls.length;
          for (const call of calls.slice()) await call.end();
          expect(calls.length).toBeGreaterThan(begun);
        }
        expect(calls.map(({ delivery }) => delivery.message.id)).toEqual(numbers(20));
        for (const call of calls) await call.end();
        expect((await statesOf(queue, webhook)).every(([, state]) => state === "delivered")).toBe(true);
      });

      test("A request in flight at a crash is repeated, and a recorded outcome is not.", async () => {
        const strict = await subject.addWebhook({ order: "strict" });
        await put(subject, strict, ["a", "b"]);
        const first = startDeliverer(queue);
        await first.run();
        await present(first.calls[0]).end();
        expect(first.calls.map(({ delivery }) => delivery.message.id)).toEqual(["a", "b"]);
        await first.close();
        const second = startDeliverer((await subject.crash()).queue);
        await second.run();
        expect(second.calls.map(({ delivery }) => delivery.message.id)).toEqual(["b"]);
      });

      test("A retry keeps its delay if the clock is wrong when it is scheduled, or while it waits.", async () => {
        await put(subject, webhook, ["a", "b"]);
        const { calls, clock, run } = startDeliverer(queue);
        await run();
        clock.step(HOUR_MS);
        await present(calls[0]).end("HTTP 500");
        clock.step(-2 * HOUR_MS);
        await present(calls[1]).end("HTTP 500");
        clock.step(HOUR_MS);
        await clock.advance(PAUSE_MS - 1);
        expect(calls).toHaveLength(2);
        await clock.advance(1);
        await present(calls[2]).end();
        await clock.advance(0);
        expect(calls.slice(2).map(({ delivery }) => delivery.message.id)).toEqual(["a", "b"]);
      });

      test.each(["parallel", "strict"] as const)(
        "Retries of a %s webhook that were scheduled by a clock of the next year are sent after a restart.",
        async (order) => {
          const own = await subject.addWebhook({ order });
          await putReplayed(subject, own, ["a", "b"]);
          const ahead = startDeliverer(queue, NOW_MS + YEAR_MS);
          await ahead.run();
          await Promise.all(ahead.calls.map((call) => call.end("HTTP 500")));
          await ahead.close();
          const { calls, run } = startDeliverer((await subject.crash()).queue, NOW_MS);
          await run();
          while ((calls.at(-1) as Call).delivery.message.id !== "b") await present(calls.at(-1)).end();
          expect(calls.map(({ delivery }) => delivery.message.id)).toEqual(["a", "b"]);
        },
      );
    });
  });
}
