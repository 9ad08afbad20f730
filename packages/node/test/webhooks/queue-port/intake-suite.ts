/** Behaviour of every implementation of the intake: batches of commands, and the reads by which they are planned. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { Event } from "../../../src/events/catalogue.ts";
import { present } from "../../../src/platform/present.ts";
import type { Intake, IntakeCommand } from "../../../src/webhooks/intake.ts";
import {
  apply,
  enqueue,
  NOW_MS,
  nextFirst,
  type OpenSubject,
  put,
  putReplayed,
  type Subject,
} from "./subject.ts";

const UNKNOWN_WEBHOOK = 999;
const ALL = 1_000;

const timeOf = (height: number): number => 1_600_000_000_000 + height * 8_000;

const applied = (height: number): Event => ({
  id: `block.applied:b${height}`,
  name: "block.applied",
  height,
  blockId: `b${height}`,
  timeMs: timeOf(height),
  data: { height },
});
const reverted = (height: number): Event => ({
  ...applied(height),
  id: `block.reverted:b${height}`,
  name: "block.reverted",
  reverts: applied(height).id,
});

const defer = (webhook: number, height: number, logSequence: number): IntakeCommand => ({
  kind: "defer",
  event: {
    webhook,
    logSequence,
    name: "block.applied",
    event: {
      ...{ id: `block.applied:b${height}`, name: "block.applied", height, blockId: `b${height}` },
      timeMs: timeOf(height),
    },
    dataText: `{"height":${height}}`,
  },
});

/** Returns the heights that confirm events, each with the heights of the events. */
const heightsOf = async (intake: Intake, heights: readonly number[], limit = ALL) =>
  (await intake.confirmedAt(heights, limit)).map(({ height, events }) => [
    height,
    events.map(({ event }) => (event.timeMs === timeOf(event.height) ? event.height : event.timeMs)),
  ]);

/** Returns id and sequence of each delivery of a webhook, in the order of the queue. */
const queueOf = async ({ queue }: Subject, webhook: number) =>
  (await nextFirst(queue, webhook, 0, ALL)).map(({ message: { id, sequence } }) => [id, sequence]);

export function describeIntake(name: string, open: OpenSubject): void {
  describe(`the intake of ${name}`, () => {
    let subject: Subject;
    let intake: Intake;
    let webhook: number;
    beforeEach(async () => {
      subject = await open();
      intake = subject.intake;
      webhook = await subject.addWebhook();
    });

    describe("the log", () => {
      test("The log continues after the matched events, also after a crash.", async () => {
        await subject.append([applied(1), applied(2), applied(3)]);
        const [first, second] = await intake.nextEvents(2);
        expect(first).toMatchObject(applied(1));
        expect(second).toMatchObject(applied(2));
        await apply(subject, [], { reader: "log", matched: present(first).sequence });
        await apply(subject, []);
        const crashed = (await subject.crash()).intake;
        expect(await crashed.nextEvents(9)).toMatchObject([applied(2), applied(3)]);
      });

      test("The log delays replays until a retraction is matched.", async () => {
        await subject.append([applied(1)]);
        expect(await intake.canReplay()).toBe(true);
        await subject.append([reverted(1), applied(2)]);
        expect(await intake.canReplay()).toBe(false);
        const [, retraction] = await intake.nextEvents(9);
        await apply(subject, [], { reader: "log", matched: present(retraction).sequence });
        expect(await intake.canReplay()).toBe(true);
      });
    });

    describe("the register", () => {
      test("The register is read again after each change of its active webhooks.", async () => {
        const before = present(await intake.activeWebhooks(undefined));
        expect(before.webhooks).toMatchObject([{ id: webhook, event: "block.applied", confirmations: 0 }]);
        expect(await intake.activeWebhooks(before.version)).toBeUndefined();
        const other = await subject.addWebhook({ confirmations: 3 });
        await subject.addWebhook({ enabled: false });
        const after = present(await intake.activeWebhooks(before.version));
        expect(after.webhooks.map(({ id }) => id)).toEqual([webhook, other]);
        await apply(subject, [{ kind: "suspend", webhook, reason: "too expensive" }]);
        expect(present(await intake.activeWebhooks(after.version)).webhooks).toMatchObject([{ id: other }]);
      });

      test("The register makes a batch obsolete that was planned by another version: nothing is written.", async () => {
        await subject.append([applied(1)]);
        const { version: registerVersion } = present(await intake.activeWebhooks(undefined));
        await subject.addWebhook();
        const commands = [enqueue(webhook, "a")];
        const position = { reader: "log", matched: 1 } as const;
        expect(await intake.apply({ registerVersion, atMs: NOW_MS, commands, position })).toEqual({
          isCurrent: false,
          webhooks: [],
        });
        expect(await queueOf(subject, webhook)).toEqual([]);
        expect(await intake.nextEvents(9)).toHaveLength(1);
      });
    });

    describe("a delivery", () => {
      test("A delivery has the time of its event; without one, that of the batch.", async () => {
        const content = { dataText: "{}", timeMs: timeOf(5) };
        await apply(subject, [enqueue(webhook, "fact", { content }), enqueue(webhook, "ping")]);
        const deliveries = await nextFirst(subject.queue, webhook, 0, ALL);
        expect(deliveries.map(({ message }) => [message.timeMs, message.content])).toEqual([
          [timeOf(5), { dataText: "{}" }],
          [NOW_MS, { dataText: '{"id":"ping"}' }],
        ]);
      });
    });

    describe("a batch", () => {
      test("A batch is applied as a whole, or not at all.", async () => {
        await subject.append([applied(1)]);
        const commands = [enqueue(webhook, "a"), enqueue(UNKNOWN_WEBHOOK, "b")];
        await expect(apply(subject, commands, { reader: "log", matched: 1 })).rejects.toThrow();
        expect(await queueOf(subject, webhook)).toEqual([]);
        expect(await intake.nextEvents(9)).toHaveLength(1);
        await put(subject, webhook, ["c"]);
        expect(await queueOf(subject, webhook)).toEqual([["c", 1]]);
      });

      test("A batch numbers the deliveries of each webhook without gaps, and inserts none twice.", async () => {
        const other = await subject.addWebhook();
        const commands = ["a", "b", "a"].map((id) => enqueue(webhook, id));
        expect(await apply(subject, [...commands, enqueue(other, "other a")])).toEqual({
          isCurrent: true,
          webhooks: [webhook, other],
        });
        expect(await apply(subject, commands)).toEqual({ isCurrent: true, webhooks: [] });
        await apply(subject, [enqueue(webhook, "b"), enqueue(webhook, "c")]);
        expect(await queueOf(subject, webhook)).toEqual([
          ["a", 1],
          ["b", 2],
          ["c", 3],
        ]);
        expect(await queueOf(subject, other)).toEqual([["other a", 1]]);
      });

      test("A batch has the same effect however it is cut, and whatever is repeated.", async () => {
        const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
        let current = subject;
        const property = fc.asyncProperty(fc.array(fc.array(id)), async (batches) => {
          const own = await current.addWebhook();
          for (const ids of batches) {
            await apply(
              current,
              ids.map((id) => enqueue(own, `${own} ${id}`)),
            );
            current = await current.crash();
          }
          const expected = [...new Set(batches.flat())].map((id, index) => [`${own} ${id}`, index + 1]);
          expect(await queueOf(current, own)).toEqual(expected);
        });
        await fc.assert(property, { numRuns: 12 });
      });

      test("A batch stores contents that are delivered with the delivery, also when several share one.", async () => {
        const content = { dataText: '{"shared":true}', link: "/api/v2/blocks/1" };
        const commands = ["a", "b"].map((id) => enqueue(webhook, id, { content }));
        await apply(subject, commands);
        const deliveries = await nextFirst(subject.queue, webhook, 0, ALL);
        expect(deliveries.map(({ message }) => message.content)).toEqual([content, content]);
      });

      test("A batch names a retracted delivery only if the webhook has it, and drops what requires another.", async () => {
        await apply(subject, [
          enqueue(webhook, "fact"),
          enqueue(webhook, "a", { reverts: "fact" }),
          enqueue(webhook, "b", { reverts: "unknown" }),
          enqueue(webhook, "c", { requires: "fact" }),
          enqueue(webhook, "d", { requires: "unknown" }),
        ]);
        const deliveries = await nextFirst(subject.queue, webhook, 0, ALL);
        expect(deliveries.map(({ message: { id, sequence, reverts } }) => [id, sequence, reverts])).toEqual([
          ["fact", 1, undefined],
          ["a", 2, "fact"],
          ["b", 3, undefined],
          ["c", 4, undefined],
        ]);
      });
    });

    describe("unconfirmed events", () => {
      test("Unconfirmed events are confirmed by the first height with enough blocks below it, by webhook and in order.", async () => {
        const two = await subject.addWebhook({ confirmations: 2 });
        const one = await subject.addWebhook({ confirmations: 1 });
        expect(
          await apply(subject, [defer(one, 5, 10), defer(one, 6, 12), defer(two, 5, 10), defer(two, 5, 11)]),
        ).toEqual({ isCurrent: true, webhooks: [one, two] });
        expect(await heightsOf(intake, [4, 5])).toEqual([]);
        expect(await heightsOf(intake, [5, 6, 7, 8])).toEqual([
          [6, [5]],
          [7, [5, 5, 6]],
        ]);
        expect(await heightsOf(intake, [7, 8])).toEqual([[7, [5, 5, 5, 6]]]);
        expect(await heightsOf(intake, [6, 7], 2)).toEqual([
          [6, [5]],
          [7, [5]],
        ]);
        const [confirmed] = await intake.confirmedAt([6], 1);
        expect(confirmed).toEqual({
          height: 6,
          events: [
            {
              webhook: one,
              logSequence: 10,
              name: "block.applied",
              event: {
                ...{ id: "block.applied:b5", name: "block.applied", height: 5, blockId: "b5" },
                timeMs: timeOf(5),
              },
              dataText: '{"height":5}',
              timesReverted: 0,
            },
          ],
        });
      });

      test("Unconfirmed events are stored once, and delivered once.", async () => {
        const own = await subject.addWebhook({ confirmations: 1 });
        await apply(subject, [defer(own, 5, 10)]);
        expect(await apply(subject, [defer(own, 5, 10)])).toEqual({ isCurrent: true, webhooks: [] });
        const delivery = { webhook: own, id: "a", event: "block.applied", content: {} };
        const confirm: IntakeCommand = { kind: "confirm", logSequence: 10, delivery };
        await apply(subject, [confirm]);
        await apply(subject, [confirm]);
        expect(await queueOf(subject, own)).toEqual([["a", 1]]);
        expect(await heightsOf(intake, [9])).toEqual([]);
      });

      test("Unconfirmed events of inactive webhooks are not confirmed, and those of a reverted block are dropped.", async () => {
        const active = await subject.addWebhook({ confirmations: 1 });
        const disabled = await subject.addWebhook({ confirmations: 1, enabled: false });
        const suspended = await subject.addWebhook({ confirmations: 1 });
        await apply(
          subject,
          [active, disabled, suspended].flatMap((id) => [defer(id, 5, 10), defer(id, 6, 11)]),
        );
        await apply(subject, [
          { kind: "suspend", webhook: suspended, reason: "too expensive" },
          { kind: "drop", block: { height: 6, blockId: "b6" } },
        ]);
        const [confirmed] = await intake.confirmedAt([9], ALL);
        expect(present(confirmed).events).toMatchObject([{ webhook: active, event: { height: 5 } }]);
      });

      test("Unconfirmed events of a suspended webhook are confirmed after the suspension, except those that were dropped before.", async () => {
        const kept = await subject.addWebhook({ confirmations: 1 });
        const dropped = await subject.addWebhook({ confirmations: 1 });
        // More than one step drops.
        const many = Array.from({ length: 1_100 }, (_, index) => defer(dropped, 5, 10 + index));
        await apply(subject, [defer(kept, 5, 10), ...many]);
        const drop = { reason: "dropped", atMs: NOW_MS };
        await subject.register.commands.update(dropped, { changes: {}, drop });
        await apply(
          subject,
          [kept, dropped].map((webhook) => ({ kind: "suspend", webhook, reason: "too expensive" })),
        );
        while ((await subject.queue.finishStep(NOW_MS)).more);
        for (const webhook of [kept, dropped]) await subject.register.commands.resume(webhook);
        expect(await heightsOf(intake, [9])).toEqual([[9, [5]]]);
      });

      test("Unconfirmed events have the number of reverts of their block before them.", async () => {
        const own = await subject.addWebhook({ confirmations: 1 });
        await apply(subject, [
          { kind: "revert", blockId: "b5", sequence: 8 },
          { kind: "revert", blockId: "b5", sequence: 8 },
          defer(own, 5, 10),
          { kind: "revert", blockId: "b5", sequence: 12 },
        ]);
        const [confirmed] = await intake.confirmedAt([6], 9);
        expect(present(confirmed).events).toMatchObject([{ timesReverted: 1 }]);
        const counts = async (before: number) => [...(await intake.countReverts(["b5", "b6"], before))];
        expect(new Map(await counts(8)).get("b5") ?? 0).toBe(0);
        expect(new Map(await counts(9)).get("b5")).toBe(1);
        expect(new Map(await counts(13)).get("b5")).toBe(2);
        expect(new Map(await counts(13)).get("b6") ?? 0).toBe(0);
      });
    });

    describe("delivered facts", () => {
      const block = (height: number) => ({ height, blockId: `b${height}` });
      const fact = (id: string, height: number, event = "transaction.applied") =>
        enqueue(webhook, id, { ...block(height), event, isRetractable: true });

      test("Delivered facts are read block by block, the latest first and the block itself last, up to a limit.", async () => {
        await apply(subject, [
          fact("applied 5", 5, "block.applied"),
          fact("first 5", 5),
          fact("second 5", 5),
          enqueue(webhook, "received 5", block(5)),
          fact("first 6", 6),
          fact("applied 6", 6, "block.applied"),
        ]);
        const idsOf = async (limit: number) =>
          (await intake.unretracted([block(6), block(5)], limit)).map(({ id }) => id);
        const all = ["first 6", "applied 6", "second 5", "first 5", "applied 5"];
        expect(await idsOf(ALL)).toEqual(all);
        expect(await idsOf(3)).toEqual(all.slice(0, 3));
        expect(await intake.unretracted([{ height: 5, blockId: "other" }], ALL)).toEqual([]);
      });

      test("Delivered facts are retracted once, with a retraction that has their content.", async () => {
        await apply(subject, [fact("a", 5)]);
        const [delivered] = await intake.unretracted([block(5)], ALL);
        const { number, content, hasSameTarget } = present(delivered);
        expect(hasSameTarget).toBe(true);
        const retraction = { webhook, id: "b", event: "transaction.reverted", reverts: "a", content };
        const retract: IntakeCommand = { kind: "retract", number, webhook, retraction };
        expect(await apply(subject, [retract])).toEqual({ isCurrent: true, webhooks: [webhook] });
        await apply(subject, [retract]);
        expect(await intake.unretracted([block(5)], ALL)).toEqual([]);
        const [, message] = (await nextFirst(subject.queue, webhook, 0, ALL)).map(({ message }) => message);
        expect(message).toMatchObject({ sequence: 2, reverts: "a", content: { dataText: '{"id":"a"}' } });
        expect(await queueOf(subject, webhook)).toHaveLength(2);
      });
    });

    describe("a step of a replay", () => {
      const next = { nextHeight: 5, nextIndex: 1 };

      test("A step of a replay is obsolete if the replay has moved, or was replaced: nothing is written twice.", async () => {
        await putReplayed(subject, webhook, []);
        const replay = present(await subject.queue.replays.find(webhook));
        const position = { reader: "replay", replay, next } as const;
        expect(await apply(subject, [enqueue(webhook, "a")], position)).toEqual({
          isCurrent: true,
          webhooks: [webhook],
        });
        const obsolete = { isCurrent: false, webhooks: [] };
        expect(await apply(subject, [enqueue(webhook, "b")], position)).toEqual(obsolete);
        expect(await subject.queue.replays.find(webhook)).toMatchObject({ ...next, events: 1, waiting: 1 });
        await subject.queue.replays.cancel(webhook, NOW_MS);
        expect(await apply(subject, [enqueue(webhook, "b")], position)).toEqual(obsolete);
        await put(subject, webhook, ["live"]);
        await subject.queue.replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
        expect(await apply(subject, [enqueue(webhook, "b")], position)).toEqual(obsolete);
        expect(await subject.queue.nextReplayed(webhook, 0)).toBeUndefined();
      });

      test("A step of a replay waits while the log has an unmatched retraction.", async () => {
        await putReplayed(subject, webhook, []);
        await subject.append([applied(1), reverted(1)]);
        expect(await putReplayed(subject, webhook, ["a"], next)).toEqual({ isCurrent: false, webhooks: [] });
        const last = present((await intake.nextEvents(9)).at(-1)).sequence;
        await apply(subject, [], { reader: "log", matched: last });
        expect(await putReplayed(subject, webhook, ["a"], next)).toMatchObject({ isCurrent: true });
      });

      test("A step of a replay that suspends the webhook ends the replay at its position.", async () => {
        await putReplayed(subject, webhook, ["a"], next);
        const replay = present(await subject.queue.replays.find(webhook));
        const suspend: IntakeCommand = { kind: "suspend", webhook, reason: "too expensive" };
        await apply(subject, [suspend], { reader: "replay", replay, next: replay });
        expect(await subject.queue.replays.find(webhook)).toMatchObject({
          ...next,
          state: "cancelled",
          reason: "too expensive",
        });
        expect(await subject.register.webhooks.find(webhook)).toMatchObject({
          suspended: { reason: "too expensive", sinceMs: NOW_MS },
        });
      });
    });
  });
}
