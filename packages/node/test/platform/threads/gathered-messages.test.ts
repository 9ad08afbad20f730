import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { gatherMessages } from "../../../src/gateway/channel.ts";

type Message = { readonly number: number; readonly value?: unknown };

/** Messages through a port: the received ones, and the ones that cannot be sent. */
function open() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const received: (readonly Message[])[] = [];
  const unsendable: Message[] = [];
  port2.on("message", (messages) => received.push(messages));
  const send = gatherMessages<Message>(
    (messages) => port1.postMessage(messages),
    (message) => unsendable.push(message),
  );
  return { send, received, unsendable };
}

const numbers = (received: readonly (readonly Message[])[]) =>
  received.map((messages) => messages.map(({ number }) => number));

test("Results that settle together are one message, in order; later ones are another.", async () => {
  const { send, received } = open();
  const settled = Promise.resolve();
  await Promise.all([1, 2, 3].map((number) => settled.then(() => send({ number }))));
  await nextTurn();
  send({ number: 4 });
  await expect.poll(() => numbers(received)).toEqual([[1, 2, 3], [4]]);
});

test("A message that cannot be copied does not prevent others.", async () => {
  const { send, received, unsendable } = open();
  send({ number: 1 });
  send({ number: 2, value: () => {} });
  send({ number: 3 });
  await expect.poll(() => numbers(received).flat()).toEqual([1, 3]);
  expect(unsendable.map(({ number }) => number)).toEqual([2]);
});
