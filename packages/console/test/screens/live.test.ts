import type { StreamedEvent } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { choiceOf, curlOf, programOf, webhookHref } from "../../src/screens/live/choice.ts";
import {
  EMPTY_TAIL,
  MAX_KEPT,
  rateOf,
  retractedIn,
  subjectOf,
  withEvents,
} from "../../src/screens/live/tail.ts";

const event = (name: string, members: Partial<StreamedEvent> = {}): StreamedEvent => ({
  event: name,
  id: `${name}:1`,
  position: "1",
  ...members,
});
const many = (count: number) => Array.from({ length: count }, () => event("block.applied"));

describe("The tail of a stream", () => {
  test("The newest event is the first, and each has a unique number.", () => {
    const first = withEvents(EMPTY_TAIL, [event("a"), event("b")], 0, false);
    const { shown } = withEvents(first, [event("c")], 0, false);
    expect(shown.map(({ event, number }) => [event, number])).toEqual([
      ["c", 3],
      ["b", 2],
      ["a", 1],
    ]);
  });

  test("Events that arrive during a pause are queued, and precede the others afterwards.", () => {
    const before = withEvents(EMPTY_TAIL, [event("a")], 0, false);
    const paused = withEvents(before, [event("b")], 0, true);
    expect(paused.shown).toBe(before.shown);
    expect(paused.waiting).toHaveLength(1);
    const after = withEvents(paused, [], 0, false);
    expect(after.shown.map(({ event }) => event)).toEqual(["b", "a"]);
    expect(after.waiting).toEqual([]);
  });

  test("It keeps a bounded number of events, and counts all.", () => {
    const shown = withEvents(EMPTY_TAIL, many(MAX_KEPT + 5), 0, false);
    expect(shown.shown).toHaveLength(MAX_KEPT);
    expect(shown.shown[0]?.number).toBe(MAX_KEPT + 5);
    const paused = withEvents(shown, many(2 * MAX_KEPT), 0, true);
    expect(paused.waiting).toHaveLength(MAX_KEPT);
    expect(paused.count).toBe(3 * MAX_KEPT + 5);
  });

  test("The rate is that of the last ten seconds, including queued events.", () => {
    const old = withEvents(EMPTY_TAIL, many(50), 0, false);
    const recent = withEvents(old, many(30), 15_000, false);
    const tail = withEvents(recent, many(10), 16_000, true);
    expect(rateOf(tail, 20_000)).toBe(4);
    expect(rateOf(EMPTY_TAIL, 0)).toBe(0);
  });
});

describe("Retractions", () => {
  const numbersOf = (...oldestFirst: readonly StreamedEvent[]) => [
    ...retractedIn(withEvents(EMPTY_TAIL, oldestFirst, 0, false).shown),
  ];

  test("An event is retracted by the one that names it.", () => {
    const fact = event("unik.minted", { id: "fact" });
    const other = event("unik.minted", { id: "other" });
    expect(numbersOf(fact, other, event("unik.minted.reverted", { id: "r", reverts: "fact" }))).toEqual([1]);
  });

  test("A reverted block retracts all of its earlier events, and none after it is applied again.", () => {
    const applied = event("block.applied", { id: "block.applied:x", blockId: "x" });
    const reverted = event("block.reverted", { id: "block.reverted:x", blockId: "x" });
    expect(numbersOf(applied, reverted, applied)).toEqual([1]);
  });

  test("An event of another block stays.", () => {
    const applied = event("block.applied", { blockId: "y" });
    expect(numbersOf(applied, event("block.reverted", { blockId: "x" }))).toEqual([]);
  });
});

describe("Subject of an event", () => {
  test.each([
    [{ username: "genesis_1", publicKey: "02" }, "genesis_1"],
    [{ id: "abc", height: 3 }, "abc"],
    [{ address: "D1" }, "D1"],
    [[1], "1 entry"],
    [[1, 2], "2 entries"],
    [{ id: 7 }, ""],
    [undefined, ""],
    [null, ""],
  ])("%j is %j.", (data, subject) => {
    expect(subjectOf(event("x", { data }))).toBe(subject);
  });
});

describe("The filters of the address", () => {
  test("An address without filters listens to everything.", () => {
    expect(choiceOf({})).toEqual({});
    expect(webhookHref({})).toBe("/console/webhooks/new?events=*");
  });

  test("Events are separated by commas or spaces, and a condition is parsed from the address.", () => {
    const query = {
      events: " block.*, unik.minted ",
      key: "amount",
      condition: "gte",
      value: "5",
      from: "7",
    };
    expect(choiceOf(query)).toEqual({
      events: ["block.*", "unik.minted"],
      conditions: [{ key: "amount", condition: "gte", value: "5" }],
      fromHeight: 7,
    });
  });

  test("Conditions without a value have none, and invalid heights and conditions are ignored.", () => {
    expect(choiceOf({ key: "a", condition: "truthy", value: "5" }).conditions).toEqual([
      { key: "a", condition: "truthy" },
    ]);
    expect(choiceOf({ key: "a", condition: "like", value: "5", from: "-1" })).toEqual({
      conditions: [{ key: "a", condition: "eq", value: "5" }],
    });
  });

  test("A webhook of the filter has its events and conditions.", () => {
    const href = webhookHref({ events: ["a", "b"], conditions: [{ key: "k", condition: "falsy" }] });
    const query = new URL(href, "http://node").searchParams;
    expect(query.get("events")).toBe("a,b");
    expect(JSON.parse(query.get("conditions") ?? "")).toEqual([{ key: "k", condition: "falsy" }]);
  });

  test("No text of a filter can end the quotes of the command.", () => {
    const choice = choiceOf({ events: "a'; rm -r .;'", key: "k", value: "'$(x)'" });
    const command = curlOf(choice, "http://node");
    expect(command.match(/'/g)).toHaveLength(2);
    expect(command.split("'")[1]).toMatch(/^http:\/\/node\/api\/v2\/events\?/);
  });

  test("The program has the options of the stream.", () => {
    expect(programOf({}, "http://node")).toContain("stream()");
    expect(programOf({ fromHeight: 3 }, "http://node")).toContain('"fromHeight": 3');
  });
});
