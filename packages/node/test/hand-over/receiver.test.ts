/** The receiver of the tests of hand-overs: which repeated calls are a fault of the sender. */
import { expect, onTestFinished, test } from "vitest";
import { checkDeliveries, startReceiver } from "../../test-support/hand-over/receiver.ts";

async function openReceiver() {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const send = (signal?: AbortSignal) =>
    fetch(`${receiver.url}/path`, {
      method: "POST",
      headers: { "webhook-sequence": "1", "webhook-epoch": "1" },
      body: JSON.stringify({ id: "msg_1", event: "block.applied" }),
      ...(signal && { signal }),
    });
  const check = (timedOut = 0) => {
    const expected = { last: 1, isStrict: true, timedOut: new Map([[1, timedOut]]) };
    return checkDeliveries("path", receiver.calls("path"), expected);
  };
  return { receiver, send, check };
}

test("A call that is repeated after its response is a fault.", async () => {
  const { send, check } = await openReceiver();
  await send();
  expect(check()).toHaveLength(1);
  await send();
  expect(() => check()).toThrow("path: sequences that were repeated after a response");
  // The response was too late for the sender.
  expect(check(1)).toHaveLength(1);
});

test("A call that is repeated because its sender gave up before the response is none.", async () => {
  const { receiver, send, check } = await openReceiver();
  receiver.respond("path", undefined);
  const aborted = new AbortController();
  const call = send(aborted.signal);
  await expect.poll(() => receiver.calls("path")).toHaveLength(1);
  aborted.abort();
  await expect(call).rejects.toThrow("aborted");
  await expect.poll(() => receiver.calls("path")[0]?.isAborted()).toBe(true);
  receiver.respond("path", 204);
  await send();
  expect(receiver.calls("path")).toHaveLength(2);
  expect(check()).toHaveLength(1);
});
