import * as random from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { activityOf } from "../../src/http/resources/blockchain.ts";
import { present } from "../../src/platform/present.ts";
import { chain } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const { network } = chain;
const { blocktime } = network.milestoneAt(1);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Blocks in slots that are in ascending order; the first one is the genesis block. */
function chainOf(slots: readonly number[], fee = 1n) {
  const times = slots.map((slot) => slot * blocktime);
  const firstAt = (time: number) => times.filter((known) => known < time).length;
  const timestamp = present(times.at(-1));
  return {
    head: { id: "", height: slots.length, timestamp },
    blocks: {
      before: async (times: readonly number[]) =>
        times.map((time) => ({ blocks: firstAt(time), transactions: 2 * firstAt(time) })),
      byHeight: async (height: number) =>
        times[height - 1] === undefined ? undefined : { timestamp: present(times[height - 1]) },
      feesBetween: async (heights: readonly number[]) =>
        heights.slice(1).map((height, index) => fee * BigInt(height - present(heights[index]))),
    },
  };
}

const activity = (given: ReturnType<typeof chainOf>, hours: number) =>
  activityOf(
    { network, timestampOf: (epoch) => ({ epoch, unix: epoch, human: "" }) },
    given as unknown as Parameters<typeof activityOf>[1],
    hours,
  );

describe("The activity of a chain", () => {
  test("The activity counts all blocks, transactions and fees of a short chain.", async () => {
    const { data } = (await fixture.get("/api/blockchain/activity")).json();
    const headers = chain.blocks.map(({ header }) => header);
    expect(data.intervalSeconds).toBe(1_800);
    expect(sum(data.blocks)).toBe(headers.length);
    expect(sum(data.transactions)).toBe(sum(headers.map(({ numberOfTransactions }) => numberOfTransactions)));
    expect(sum(data.fees.map(Number))).toBe(sum(headers.map(({ totalFee }) => Number(totalFee))));
    const [, second] = headers;
    const slots = (present(headers.at(-1)).timestamp - present(second).timestamp) / blocktime + 1;
    expect(sum(data.missedSlots)).toBe(slots - (headers.length - 1));
    expect(data.times).toHaveLength(data.blocks.length);
  });

  test("Every slot up to the head has a block or is missed, in the interval in which it begins.", async () => {
    await random.assert(
      random.asyncProperty(
        random.uniqueArray(random.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 60 }),
        random.integer({ min: 1, max: 720 }),
        async (others, hours) => {
          const slots = [0, ...others.sort((a, b) => a - b)];
          const { intervalSeconds, times, blocks, transactions, missedSlots } = await activity(
            chainOf(slots),
            hours,
          );
          const isIn = (index: number) => (slot: number) => {
            const start = present(times[index]);
            return slot * blocktime >= start && slot * blocktime < start + intervalSeconds;
          };
          const last = present(slots.at(-1));
          const all = Array.from(
            { length: last - present(slots[1]) + 1 },
            (_, index) => present(slots[1]) + index,
          );
          const missed = all.filter((slot) => !slots.includes(slot));
          const indexes = times.map((_, index) => index);
          expect(blocks).toEqual(indexes.map((index) => slots.filter(isIn(index)).length));
          expect(transactions).toEqual(blocks.map((count) => 2 * count));
          expect(missedSlots).toEqual(indexes.map((index) => missed.filter(isIn(index)).length));
          expect(isIn(times.length - 1)(last)).toBe(true);
          expect(times.length).toBeLessThanOrEqual(48);
        },
      ),
    );
  });

  test("A chain with its genesis block alone has missed no slot.", async () => {
    const { blocks, missedSlots, fees } = await activity(chainOf([0]), 24);
    expect([blocks, missedSlots, fees]).toEqual([[1], [0], ["1"]]);
  });

  test("Fees of more than 12,000 blocks are not added up.", async () => {
    const slots = Array.from({ length: 12_001 }, (_, slot) => slot);
    expect((await activity(chainOf(slots.slice(1)), 720)).fees).toBeDefined();
    expect(await activity(chainOf(slots), 720)).not.toHaveProperty("fees");
  });

  test.each(["hours=0", "hours=721", "hours=x", "days=1"])("The query %s is refused.", async (query) => {
    expect((await fixture.get(`/api/blockchain/activity?${query}`)).statusCode).toBe(422);
  });
});
