/** The end of pending broadcasts when a node stops. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { PendingSends } from "../../src/peers/propagation.ts";
import { deadlineIn } from "../../src/platform/threads/call.ts";

const FAR = deadlineIn(60_000);

test("A broadcast without a reply does not delay the end beyond the common deadline.", async () => {
  const sends = new PendingSends(() => {});
  const { promise: reply, resolve } = Promise.withResolvers<void>();
  sends.add(reply);
  await sends.settled({ deadline: deadlineIn(-1), replyMs: 60_000 }, () => true);
  resolve();
});

test("The end waits for the last reply before the deadline.", async () => {
  const sends = new PendingSends(() => {});
  let isReplied = false;
  const reply = async () => {
    await sleep(50);
    isReplied = true;
  };
  sends.add(reply());
  await sends.settled({ deadline: FAR, replyMs: 60_000 }, () => true);
  expect(isReplied).toBe(true);
});

test("Without anything to send, the end waits for replies for a limited time.", async () => {
  const sends = new PendingSends(() => {});
  const { promise: reply, resolve } = Promise.withResolvers<void>();
  sends.add(reply);
  await sends.settled({ deadline: FAR, replyMs: 10 }, () => false);
  resolve();
});
