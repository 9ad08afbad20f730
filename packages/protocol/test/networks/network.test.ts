import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNetwork, createSlots, type MilestoneChange, presets } from "../../src/index.ts";
import { present } from "../../src/present.ts";

const networkOf = (milestones: MilestoneChange[]) => createNetwork({ ...presets.unitnet, milestones });

describe("milestones", () => {
  test("Values of milestones that are not objects replace, and nothing is removed.", () => {
    const { milestones } = networkOf([
      { height: 1, a: { b: { c: 1, d: [1, 2] } }, e: 1, f: false, g: [1] },
      { height: 2, a: { b: { d: [3] } }, e: { x: 1 }, f: { y: 1 }, g: { z: 1 } },
      { height: 3, a: false, e: [], g: null },
    ]);
    expect(milestones).toEqual([
      { height: 1, a: { b: { c: 1, d: [1, 2] } }, e: 1, f: false, g: [1] },
      { height: 2, a: { b: { c: 1, d: [3] } }, e: { x: 1 }, f: { y: 1 }, g: { z: 1 } },
      { height: 3, a: false, e: [], f: { y: 1 }, g: null },
    ]);
  });

  test("The later of two entries of one height has both changes.", () => {
    const network = networkOf([
      { height: 1, a: 1 },
      { height: 5, b: 2 },
      { height: 5, c: 3 },
    ]);
    expect(network.milestoneAt(5)).toEqual({ height: 5, a: 1, b: 2, c: 3 });
  });

  test("The merge of milestones does not change the files.", () => {
    const before = structuredClone(presets.livenet);
    createNetwork(presets.livenet);
    expect(presets.livenet).toEqual(before);
  });

  test("A member called __proto__ is an ordinary member.", () => {
    const change = JSON.parse('{"height":1,"__proto__":{"reward":7}}') as MilestoneChange;
    const { milestones } = networkOf([change, { height: 2 }]);
    expect(milestones[1]?.reward).toBeUndefined();
    expect(Object.keys(present(milestones[1], "an item of milestones"))).toEqual(["height", "__proto__"]);
  });

  test("A height below the first milestone gets the first.", () => {
    expect(createNetwork(presets.livenet).milestoneAt(0).height).toBe(1);
    expect(networkOf([{ height: 7 }]).milestoneAt(3).height).toBe(7);
  });

  test("Property: each parameter in force is the last one listed at or below the height.", () => {
    const change = fc.record(
      { height: fc.integer({ min: 1, max: 50 }), a: fc.nat(), b: fc.boolean(), c: fc.string() },
      { requiredKeys: ["height"] },
    );
    const changes = fc.uniqueArray(change, { selector: ({ height }) => height, minLength: 1 });
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: 60 }), (list, height) => {
        const network = networkOf([{ height: 1 }, ...list]);
        const below = list.filter((entry) => entry.height <= height).sort((x, y) => x.height - y.height);
        const expected = { height: 1, ...Object.assign({}, ...below) };
        expect(network.milestoneAt(height)).toEqual(expected);
        expect(network.isMilestone(height)).toBe(height === 1 || list.some((m) => m.height === height));
      }),
    );
  });
});

describe("slots", () => {
  const slots = createSlots(createNetwork(presets.dalinet));
  const epochMs = Date.parse("2019-09-19T11:42:10.474Z");

  test("The epoch keeps its milliseconds.", () => {
    expect(slots.timeAt(epochMs)).toBe(0);
    expect(slots.timeAt(epochMs - 1)).toBe(-1);
    expect(slots.timeAt(epochMs + 999)).toBe(0);
    expect(slots.timeAt(epochMs + 1000)).toBe(1);
    expect(slots.unixMsOf(0)).toBe(epochMs);
  });

  test("The forging phase is the first half of a slot.", () => {
    const phases = Array.from({ length: 9 }, (_, time) => slots.isForgingPhase(time));
    expect(phases).toEqual([true, true, true, true, false, false, false, false, true]);
    const odd = createSlots(networkOf([{ height: 1, epoch: "2020-01-01T00:00:00Z", blocktime: 3 }]));
    expect([0, 1, 2, 3].map((time) => odd.isForgingPhase(time))).toEqual([true, true, false, true]);
  });

  test("The epoch and the blocktime are those of the first milestone.", () => {
    const network = networkOf([
      { height: 1, epoch: "2020-01-01T00:00:00Z", blocktime: 8 },
      { height: 2, epoch: "2021-01-01T00:00:00Z", blocktime: 4 },
    ]);
    expect(createSlots(network).blocktime).toBe(8);
    expect(createSlots(network).timeAt(Date.parse("2020-01-01T00:00:01Z"))).toBe(1);
  });

  test("Property: a slot starts at its time and lasts blocktime seconds.", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000, max: 4_294_967_295 }), (time) => {
        const slot = slots.slotAt(time);
        expect(slots.slotTime(slot)).toBeLessThanOrEqual(time);
        expect(slots.slotTime(slot + 1)).toBeGreaterThan(time);
        expect(slots.timeAt(slots.unixMsOf(time))).toBe(time);
        expect(slots.timeAt(slots.unixMsOf(time) - 1)).toBe(time - 1);
      }),
    );
  });
});
