/** Plans of steps: their bounds, and what a step must know of itself because its reads do not contain it. */
import { describe, expect, test } from "vitest";
import type { Event, LoggedEvent } from "../../../src/events/catalogue.ts";
import { present } from "../../../src/platform/present.ts";
import { CostError, MeteredConditions } from "../../../src/subscriptions/conditions/cost.ts";
import type { ConfirmedEvent, DeliveryDraft, IntakeCommand } from "../../../src/webhooks/intake.ts";
import { stepOf } from "../../../src/webhooks/matching/matcher.ts";
import {
  type JudgedSubscriber,
  type Plan,
  type PlanInput,
  planStep,
} from "../../../src/webhooks/matching/plan.ts";
import type { DeliveredFact } from "../../../src/webhooks/model/deliveries.ts";
import { blockApplied, blockReverted } from "../../../test-support/webhooks/support.ts";

const log = (...events: readonly Event[]): LoggedEvent[] =>
  events.map((event, index) => ({ ...event, sequence: 11 + index, createdMs: 0 }));

const subscriber = (id: number, confirmations = 0): JudgedSubscriber => ({
  definition: {
    ...{
      id,
      event: "block.applied",
      events: [],
      conditions: "[]",
      match: "any",
      confirmations,
      activeAfter: 0,
    },
    list: [],
    names: new Map(),
    metered: new MeteredConditions(() => true),
  },
  name: "block.applied",
  verdict: true,
});

const many = (count: number) => Array.from({ length: count }, (_, index) => subscriber(index + 1));

const plan = (events: readonly LoggedEvent[], input: Partial<PlanInput> = {}) =>
  planStep({
    network: "nethash",
    events,
    reads: { reverts: new Map(), facts: [], confirmed: [] },
    subscribers: () => [subscriber(1)],
    reached: undefined,
    fit: (_, dataText) => ({ dataText }),
    ...input,
  });

const deliveriesOf = (commands: readonly IntakeCommand[]): DeliveryDraft[] =>
  commands.flatMap((command) =>
    command.kind === "enqueue" || command.kind === "confirm" ? command.delivery : [],
  );

const kindsOf = (commands: readonly IntakeCommand[]) => commands.map(({ kind }) => kind);

describe("a step", () => {
  test("A step has only events of reverted blocks, or none.", () => {
    const events = log(blockApplied(1), blockApplied(2), blockReverted(2), blockReverted(1), blockApplied(1));
    const namesOf = (list: readonly LoggedEvent[]) => stepOf(list).map(({ name, height }) => [name, height]);
    expect(namesOf(events)).toEqual([
      ["block.applied", 1],
      ["block.applied", 2],
    ]);
    expect(namesOf(events.slice(2))).toEqual([
      ["block.reverted", 2],
      ["block.reverted", 1],
    ]);
    expect(namesOf(events.slice(4))).toEqual([["block.applied", 1]]);
  });

  test("A step is the same for the same input.", () => {
    const events = log(blockApplied(1), blockApplied(2));
    expect(plan(events)).toEqual(plan(events));
    expect(plan(events)).toMatchObject({ matched: 12, isFinished: true });
  });

  test("A step gives the deliveries of an event one content, in the order of the webhooks.", () => {
    const { commands } = plan(log(blockApplied(1)), { subscribers: () => many(3) });
    const [first, ...others] = deliveriesOf(commands);
    expect(others.map(({ webhook }) => webhook)).toEqual([2, 3]);
    for (const { content } of others) expect(content).toBe(present(first).content);
  });

  test("A step ends after a hundred webhooks, within an event, and is continued there.", () => {
    const events = log(blockApplied(1), blockApplied(2));
    const first = plan(events, { subscribers: () => many(250) });
    expect(first.commands).toHaveLength(100);
    expect(first).toMatchObject({ reached: { sequence: 11 }, isFinished: false });
    expect(first.matched).toBeUndefined();
    const second = plan(events, { subscribers: () => many(250), reached: first.reached });
    expect(deliveriesOf(second.commands).map(({ webhook }) => webhook)).toEqual(
      Array.from({ length: 100 }, (_, index) => 101 + index),
    );
    const third = plan(events, { subscribers: () => many(250), reached: second.reached });
    expect(third).toMatchObject({ matched: 11, reached: { sequence: 12 }, isFinished: false });
    expect(new Set(deliveriesOf(third.commands).map(({ height }) => height))).toEqual(new Set([1, 2]));
  });

  test("A step plans an event for webhooks of other shards that an earlier step did not have.", () => {
    // A worker matches shards at different positions, each with a step of its own.
    const events = log(blockApplied(1));
    const webhooksOf = (subscribers: readonly JudgedSubscriber[], reached?: Plan["reached"]) => {
      const step = plan(events, { subscribers: () => subscribers, reached });
      return { ...step, webhooks: deliveriesOf(step.commands).map(({ webhook }) => webhook) };
    };
    const complete = webhooksOf([subscriber(6)]);
    expect(complete).toMatchObject({ webhooks: [6], isFinished: true });
    expect(webhooksOf([subscriber(2), subscriber(9)], complete.reached).webhooks).toEqual([2, 9]);
    const interrupted = webhooksOf(many(250));
    expect(interrupted).toMatchObject({ isFinished: false });
    const others = [subscriber(0), ...many(3), subscriber(300)];
    expect(webhooksOf(others, interrupted.reached).webhooks).toEqual([0, 300]);
  });

  test("A step ends after five hundred deliveries to few webhooks.", () => {
    const events = log(...Array.from({ length: 50 }, (_, index) => blockApplied(index + 1)));
    const { commands, matched, isFinished } = plan(events, { subscribers: () => many(20) });
    expect([commands.length, matched, isFinished]).toEqual([500, 35, false]);
  });

  test("A step that suspends a webhook gives it nothing more.", () => {
    const verdict = new CostError("too expensive");
    const { commands } = plan(log(blockApplied(1), blockApplied(2)), {
      subscribers: () => [{ ...subscriber(1), verdict }, subscriber(2)],
    });
    expect(commands).toMatchObject([
      { kind: "suspend", webhook: 1, reason: "too expensive" },
      { kind: "enqueue", delivery: { webhook: 2, height: 1 } },
      { kind: "enqueue", delivery: { webhook: 2, height: 2 } },
    ]);
  });
});

describe("the id of a delivery", () => {
  const idsOf = (events: readonly LoggedEvent[], reverts = new Map<string, number>()) =>
    deliveriesOf(plan(events, { reads: { reverts, facts: [], confirmed: [] } }).commands).map(({ id }) => id);

  test("The id of a delivery differs after a revert of the block, whether a former step or the same one recorded it.", () => {
    const [before] = idsOf(log(blockApplied(1)));
    const [after] = idsOf(log(blockApplied(1)), new Map([["block1", 1]]));
    expect(after).not.toBe(before);
    expect(idsOf(log(blockReverted(1), blockApplied(1))).at(-1)).toBe(after);
  });
});

describe("a reverted block", () => {
  const fact = (number: number, height: number, hasSameTarget = true): DeliveredFact => ({
    ...{ number, webhook: 7, id: `msg_${number}`, event: "block.applied", height, blockId: `block${height}` },
    content: 40 + number,
    hasSameTarget,
  });
  const retract = (events: readonly LoggedEvent[], facts: readonly DeliveredFact[]) =>
    plan(events, {
      reads: { reverts: new Map(), facts, confirmed: [] },
      subscribers: () => [],
    });

  test("A reverted block retracts its facts, then drops its unconfirmed events, and is recorded.", () => {
    const { commands } = retract(log(blockReverted(2), blockReverted(1)), [fact(3, 2), fact(2, 1, false)]);
    expect(commands).toMatchObject([
      { kind: "retract", number: 3, retraction: { reverts: "msg_3", event: "block.reverted", content: 43 } },
      { kind: "drop", block: { height: 2, blockId: "block2" } },
      { kind: "revert", blockId: "block2", sequence: 11 },
      { kind: "retract", number: 2 },
      { kind: "drop", block: { height: 1, blockId: "block1" } },
      { kind: "revert", blockId: "block1", sequence: 12 },
    ]);
    expect(commands[3]).not.toHaveProperty("retraction");
  });

  test("A reverted block needs a further step if more facts may remain.", () => {
    const facts = Array.from({ length: 100 }, (_, index) => fact(200 - index, 1));
    const { commands, matched, isFinished } = retract(log(blockReverted(1)), facts);
    expect([new Set(kindsOf(commands)), matched, isFinished]).toEqual([
      new Set(["retract"]),
      undefined,
      false,
    ]);
  });
});

describe("confirmations", () => {
  const confirmed = (height: number): ConfirmedEvent => ({
    ...{ webhook: 1, logSequence: 5, name: "block.applied", timesReverted: 0, dataText: undefined },
    event: { id: `block.applied:block${height}`, name: "block.applied", height, blockId: `block${height}` },
  });

  test("Confirmations defer facts, and end the step before a block that confirms one of them.", () => {
    const events = log(...[1, 2, 3, 4].map(blockApplied));
    const { commands, matched, isFinished } = plan(events, { subscribers: () => [subscriber(1, 2)] });
    expect(commands).toMatchObject([
      { kind: "defer", event: { logSequence: 11, dataText: expect.any(String) } },
      { kind: "defer" },
    ]);
    expect([matched, isFinished]).toEqual([12, false]);
  });

  test("Confirmations deliver the facts of former steps after each block that confirms them.", () => {
    const events = log(blockApplied(6), blockApplied(7), blockApplied(8));
    const confirmedFacts = [7, 8].map((height) => ({ height, events: [confirmed(height - 2)] }));
    const reads = { reverts: new Map(), facts: [], confirmed: confirmedFacts };
    const { commands, matched, isFinished } = plan(events, { reads, subscribers: () => [subscriber(2)] });
    const heightsOf = deliveriesOf(commands).map(({ webhook, height }) => [webhook, height]);
    expect(heightsOf).toEqual([
      [2, 6],
      [2, 7],
      [1, 5],
      [2, 8],
      [1, 6],
    ]);
    expect([matched, isFinished]).toEqual([13, true]);
  });

  test("Confirmations need a further step if more facts may remain.", () => {
    const events = log(blockApplied(7), blockApplied(8));
    const counts = [40, 60] as const;
    const reads = {
      ...{ reverts: new Map(), facts: [] },
      confirmed: counts.map((length, index) => ({
        height: 7 + index,
        events: Array.from({ length }, () => confirmed(5)),
      })),
    };
    const { commands, matched, isFinished } = plan(events, { reads, subscribers: () => [] });
    expect([commands.length, matched, isFinished]).toEqual([100, 11, false]);
  });

  test("Confirmations require the delivery that an event retracts, if the webhook subscribes to it.", () => {
    const requiredBy = (...names: readonly string[]) => {
      const { definition, ...own } = subscriber(1, 2);
      const both = { ...definition, names: new Map(names.map((name) => [name, name])) };
      const { commands } = plan(log(blockReverted(1)), {
        subscribers: () => [{ ...own, definition: both }],
      });
      const { requires, reverts } = present(deliveriesOf(commands)[0]);
      expect(reverts).toMatch(/^msg_/);
      return requires === undefined ? "nothing" : requires === reverts;
    };
    expect(requiredBy("block.reverted", "block.applied")).toBe(true);
    expect(requiredBy("block.reverted", "transaction.applied")).toBe("nothing");
  });
});
