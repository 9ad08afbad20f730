import { describe, expect, test } from "vitest";
import { always, blockApplied, createService, heights, type Reply, settle } from "./support.ts";

describe("order", () => {
  test("first attempts come in the order of events, one at a time", async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const { webhooks, emit, calls } = createService({
      reply: () => new Promise<Reply>((resolve) => answers.push(resolve)),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    for (const expected of [[1], [1, 2], [1, 2, 3]]) {
      expect(heights(calls)).toEqual(expected);
      answers.shift()?.(200);
      await settle();
    }
  });

  test("a failing delivery does not hold back the later ones", async () => {
    const { webhooks, emit, calls, clock } = createService({
      reply: ({ message }) => (message.height === 1 ? 500 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1, 2, 3]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 2, 3, 1]);
  });

  test("nor does a retry that hangs", async () => {
    let isFirst = true;
    const { webhooks, emit, calls, clock } = createService({
      reply({ message }) {
        if (message.height !== 1) return 200;
        const reply: Reply = isFirst ? 500 : "never";
        isFirst = false;
        return reply;
      },
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await clock.advance(5_000);
    await emit(blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1, 1, 2, 3]);
  });

  test("in strict order it does", async () => {
    let failures = 2;
    const { webhooks, emit, calls, clock } = createService({
      options: { strictOrder: true },
      reply: ({ message }) => (message.height === 1 && failures-- > 0 ? 500 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 1]);
    await clock.advance(30_000);
    expect(heights(calls)).toEqual([1, 1, 1, 2, 3]);
  });

  test("a slow target does not delay the others", async () => {
    const { webhooks, emit, calls } = createService({
      reply: ({ target }) => (target.includes("slow") ? "never" : 200),
    });
    await webhooks.register.create(always("block.applied", "https://slow.example/"));
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls.filter(({ target }) => target.includes("slow")))).toEqual([1]);
    expect(heights(calls.filter(({ target }) => !target.includes("slow")))).toEqual([1, 2, 3]);
  });

  test("with few places, every webhook has its turn", async () => {
    const { webhooks, emit, calls } = createService({ options: { maxConcurrent: 1 } });
    for (let id = 1; id <= 3; id++) await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    expect(calls.map(({ message }) => [message.webhookId, message.height])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
  });
});
