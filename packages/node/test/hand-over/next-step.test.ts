/** The step of a hand-over that follows the states of both sides. */
import { expect, test } from "vitest";
import { cancellableTransfer, nextStep, type Target } from "../../src/hand-over/next-step.ts";
import { OWNER_STATES, type OwnerState } from "../../src/webhooks/hand-over/owner.ts";

const stepOf = (target: Target, node: OwnerState, workers: OwnerState, ids: "same" | "other" = "same") =>
  nextStep(target, {
    node: { state: node, transfer: "a" },
    workers: { state: workers, transfer: ids === "same" ? "a" : "b" },
  });

test("A hand-over to the workers continues with the step that follows.", () => {
  expect(stepOf("workers", "node", "node")).toEqual({ kind: "begin", transfer: undefined });
  expect(stepOf("workers", "node", "to workers", "other")).toEqual({ kind: "prepare", transfer: "b" });
  expect(stepOf("workers", "to workers", "to workers")).toEqual({ kind: "copy", transfer: "a" });
  expect(stepOf("workers", "to workers", "workers")).toEqual({ kind: "complete", transfer: "a" });
  expect(stepOf("workers", "workers", "workers")).toEqual({ kind: "done" });
  // A cancellation was interrupted.
  expect(stepOf("workers", "to workers", "node", "other")).toEqual({ kind: "begin", transfer: "a" });
});

test("A hand-over to the node continues with the step that follows.", () => {
  expect(stepOf("node", "workers", "workers")).toEqual({ kind: "begin", transfer: undefined });
  expect(stepOf("node", "workers", "to node", "other")).toEqual({ kind: "prepare", transfer: "b" });
  expect(stepOf("node", "to node", "to node")).toEqual({ kind: "copy", transfer: "a" });
  expect(stepOf("node", "node", "to node")).toEqual({ kind: "complete", transfer: "a" });
  expect(stepOf("node", "node", "node", "other")).toEqual({ kind: "done" });
  // It was cancelled while another command continued.
  expect(stepOf("node", "to node", "workers")).toEqual({ kind: "begin", transfer: "a" });
});

test("A hand-over in the other direction must be completed first.", () => {
  for (const [node, workers] of [
    ["to node", "to node"],
    ["workers", "to node"],
    ["to node", "workers"],
  ] as const)
    expect(() => stepOf("workers", node, workers)).toThrow(/finish it with --to node, or cancel it/);
  for (const [node, workers] of [
    ["to workers", "to workers"],
    ["node", "to workers"],
    ["to workers", "node"],
  ] as const)
    expect(() => stepOf("node", node, workers)).toThrow(/finish it with --to workers, or cancel it/);
});

test("A hand-over in the other direction cannot be cancelled once its target has everything.", () => {
  expect(() => stepOf("workers", "node", "to node")).toThrow(/finish it with --to node$/);
  expect(() => stepOf("node", "to workers", "workers")).toThrow(/finish it with --to workers$/);
});

test("No step follows if both sides could send, or their states belong to two hand-overs.", () => {
  for (const target of ["workers", "node"] as const) {
    expect(() => stepOf(target, "node", "workers")).toThrow(
      expect.objectContaining({
        code: "HAND_OVER_CONFLICT",
        message: expect.stringContaining("both would send"),
      }),
    );
    expect(() => stepOf(target, "workers", "node")).toThrow(
      expect.objectContaining({ code: "HAND_OVER_CONFLICT" }),
    );
  }
  for (const [target, node, workers] of [
    ["workers", "to workers", "to workers"],
    ["workers", "to workers", "workers"],
    ["workers", "workers", "workers"],
    ["node", "workers", "workers"],
    ["node", "to node", "to node"],
    ["node", "node", "to node"],
    ["node", "to node", "workers"],
  ] as const)
    expect(() => stepOf(target, node, workers, "other"), `${node}, ${workers}`).toThrow();
});

test("Every pair of states has a step, or is refused with what to do.", () => {
  for (const target of TARGETS) {
    for (const pair of pairs()) {
      const message = refusalOf(target, ...pair);
      if (message) expect(message, `${pair}`).toMatch(/finish it with --to|check --node and --database-url/);
    }
  }
});

test("A refusal names only commands that are possible.", () => {
  for (const target of TARGETS) {
    for (const pair of pairs()) {
      const message = refusalOf(target, ...pair) ?? "";
      for (const to of TARGETS) {
        if (!message.includes(`--to ${to}`)) continue;
        expect(to, `${pair}`).not.toBe(target);
        const step = stepOf(to, ...pair);
        const isCancellable = cancellableTransfer(step) !== undefined;
        expect(message.includes(`--to ${to} --cancel`), `${pair}`).toBe(isCancellable);
      }
    }
  }
});

const TARGETS = ["workers", "node"] as const;

type Ids = "same" | "other";

function* pairs(): Iterable<readonly [node: OwnerState, workers: OwnerState, ids: Ids]> {
  for (const node of OWNER_STATES)
    for (const workers of OWNER_STATES)
      for (const ids of ["same", "other"] as const) yield [node, workers, ids];
}

function refusalOf(target: Target, node: OwnerState, workers: OwnerState, ids: Ids): string | undefined {
  try {
    stepOf(target, node, workers, ids);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
