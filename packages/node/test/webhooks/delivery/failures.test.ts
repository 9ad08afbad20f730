import { describe, expect, test } from "vitest";
import { Failures } from "../../../src/webhooks/delivery/failures.ts";
import type { DeliveryRequest, Post } from "../../../src/webhooks/delivery/post.ts";

const REQUEST: DeliveryRequest = {
  ...{ id: "msg_1", webhook: 1, target: "http://receiver", isStrict: false },
  headers: {},
  body: "{}",
};
const never = new AbortController().signal;

function receiver(timeoutMs = 10_000) {
  const received: DeliveryRequest[] = [];
  const accept: Post = async (request) => {
    received.push(request);
    return { status: 204 };
  };
  return { received, failures: new Failures(accept, timeoutMs) };
}

describe("a receiver with an injected failure", () => {
  test("A receiver with an injected failure refuses with a status, and receives nothing; others receive theirs.", async () => {
    const { failures, received } = receiver();
    failures.begin(1, { how: "refuse", status: 503 });
    expect(await failures.post(REQUEST, never)).toMatchObject({ status: 503, excerpt: expect.any(String) });
    expect(await failures.post({ ...REQUEST, webhook: 2 }, never)).toEqual({ status: 204 });
    expect(received.map(({ webhook }) => webhook)).toEqual([2]);
  });

  test("A receiver with an injected failure closes the connection as a real one does.", async () => {
    const { failures, received } = receiver();
    failures.begin(1, { how: "drop" });
    await expect(failures.post(REQUEST, never)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(received).toEqual([]);
  });

  test("A receiver with an injected failure receives a delayed request unchanged.", async () => {
    const { failures, received } = receiver();
    failures.begin(1, { how: "delay", seconds: 0.01 });
    expect(await failures.post(REQUEST, never)).toEqual({ status: 204 });
    expect(received).toEqual([REQUEST]);
  });

  test("A receiver with an injected failure does not receive a delayed request if the attempt times out first.", async () => {
    const { failures, received } = receiver(10);
    failures.begin(1, { how: "delay", seconds: 30 });
    await expect(failures.post(REQUEST, never)).rejects.toMatchObject({ name: "TimeoutError" });
    expect(received).toEqual([]);
  });

  test("A receiver with an injected failure does not prevent the node from ending.", async () => {
    const { failures } = receiver();
    failures.begin(1, { how: "delay", seconds: 30 });
    const ending = new AbortController();
    const call = failures.post(REQUEST, ending.signal);
    ending.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  test("A receiver with an injected failure fails in one way at a time, until the failure is removed.", async () => {
    const { failures } = receiver();
    failures.begin(1, { how: "drop" });
    failures.begin(1, { how: "refuse", status: 500 });
    expect([...failures.all()]).toEqual([[1, { how: "refuse", status: 500 }]]);
    failures.end(1);
    expect(await failures.post(REQUEST, never)).toEqual({ status: 204 });
    expect(failures.all().size).toBe(0);
  });
});
