/** The model of a webhook in strict order is explored completely, and the service does in each situation what it says. */
import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import {
  always,
  blockApplied,
  blockReverted,
  createService,
  createTestClock,
  databasePath,
  type Service,
  settle,
} from "../../../test-support/webhooks/support.ts";
import { type Arrival, cover, type Explored, explore, type Model, next, START, type Step } from "./model.ts";

const DEPTH = 12;
const PAUSE_MS = 1_000;
/** More than a delivery has while its receiver does not work. */
const MAX_ATTEMPTS = 1_000;

/** Lets the receiver work until nothing is left to send. */
function finish({ model, steps, arrivals }: Explored, confirmations: number): Explored {
  if (model.receiver !== "up")
    return finish(follow({ model, steps, arrivals }, "up", confirmations), confirmations);
  if (model.queue.length === 0) return { model, steps, arrivals };
  return finish(follow({ model, steps, arrivals }, "retry", confirmations), confirmations);
}

function follow({ model, steps, arrivals }: Explored, step: Step, confirmations: number): Explored {
  const [after, more] = next(model, step, confirmations);
  return { model: after, steps: [...steps, step], arrivals: [...arrivals, ...more] };
}

/** Returns what a receiver holds that follows the rule of the guide: a cancelled fact stays cancelled. */
function heldBy(arrivals: readonly Arrival[]): number[] {
  const cancelled = new Set(
    arrivals.filter(({ isRetraction }) => isRetraction).map(({ application }) => application),
  );
  const facts = new Set(
    arrivals.filter(({ isRetraction }) => !isRetraction).map(({ application }) => application),
  );
  return [...facts].filter((application) => !cancelled.has(application));
}

test.each([0, 1, 2])(
  "A receiver that follows the rule of the guide holds exactly the confirmed blocks of the chain (%i confirmations).",
  (confirmations) => {
    const { models } = explore(confirmations, DEPTH);
    for (const explored of models) {
      const { model, steps, arrivals } = finish(explored, confirmations);
      const held = heldBy(arrivals);
      const { chain } = model;
      // A block that was confirmed stays delivered if blocks above it are reverted.
      const delivered = chain
        .filter(({ fact }) => fact === "is delivered")
        .map(({ application }) => application);
      expect([steps, held]).toEqual([steps, delivered]);
      expect(delivered.length).toBeGreaterThanOrEqual(chain.length - confirmations);
    }
    expect(models.length).toBeGreaterThan(50);
  },
);

/** Plays ways on the service, one after the other, each with a webhook and blocks of its own. */
async function createPlayer(confirmations: number) {
  const path = databasePath();
  const clock = createTestClock();
  let receiver: Model["receiver"] = "up";
  let base = 0;
  const reply = () => (receiver === "up" ? 200 : receiver === "lost" ? 500 : new Error("unreachable"));
  const open = (): Service =>
    createService({ path, clock, reply, options: { retryPausesMs: new Array(MAX_ATTEMPTS).fill(PAUSE_MS) } });
  let service = open();

  /** Returns what arrives at the receiver in a step of the real service. */
  async function play(step: Step, { chain, reverted, names }: Model): Promise<string[]> {
    service.calls.length = 0;
    const height = base + chain.length;
    const named = (name: number) => ({ blockId: `${base}.${name}` });
    const applied = (name: number) => ({
      ...blockApplied(height + 1),
      ...named(name),
      id: `block.applied:${base}.${name}`,
    });
    if (step === "forge") await service.emit(applied(names + 1));
    else if (step === "again") await service.emit(applied(present(reverted)));
    else if (step === "revert") {
      const { name } = present(chain.at(-1));
      const ids = { id: `block.reverted:${base}.${name}`, reverts: `block.applied:${base}.${name}` };
      await service.emit({ ...blockReverted(height), ...named(name), ...ids });
    } else if (step === "retry") await clock.advance(PAUSE_MS);
    else if (step === "restart") {
      await service.close();
      service = open();
      service.webhooks.notify();
      await settle();
    } else receiver = step;
    const isReached = receiver !== "down";
    return isReached ? service.calls.map(({ message }) => `${message.event} ${message.blockId}`) : [];
  }

  return async (steps: readonly Step[]): Promise<void> => {
    base += 100;
    receiver = "up";
    const { id } = await service.webhooks.register.create({ ...always(), order: "strict", confirmations });
    let model = START;
    for (const [index, step] of steps.entries()) {
      const got = await play(step, model);
      const [after, arrivals] = next(model, step, confirmations);
      const expected = arrivals.map(
        ({ name, isRetraction }) => `block.${isRetraction ? "reverted" : "applied"} ${base}.${name}`,
      );
      const last = steps.slice(Math.max(0, index - DEPTH), index + 1).join(" ");
      expect(got, `step ${index}, after ${last}`).toEqual(expected);
      model = after;
    }
    await service.webhooks.register.remove(`${id}`);
    await settle();
  };
}

test.each([0, 1, 2])(
  "The service sends in each situation of the model what the model says (%i confirmations).",
  async (confirmations) => {
    const play = await createPlayer(confirmations);
    for (const steps of cover(confirmations, DEPTH)) await play(steps);
  },
);
