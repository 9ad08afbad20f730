/** A signal ends a request or a stream at once, whatever it waits for. */
import { getEventListeners } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../src/index.ts";

const PAUSE_S = 50;

async function serve(listener: RequestListener) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => requests };
}

/** Stops the timers of the client. Returns a function that settles when the client has started one of this time. */
function stopTimers(): (timeMs: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { setTimeout } = globalThis;
  const startedMs: (number | undefined)[] = [];
  // A spy would be restored again by `vi.restoreAllMocks` of a later file, which then has the stopped timers.
  globalThis.setTimeout = Object.assign(
    (...args: Parameters<typeof setTimeout>) => {
      startedMs.push(args[1]);
      return setTimeout(...args);
    },
    { __promisify__: setTimeout.__promisify__ },
  );
  onTestFinished(() => {
    globalThis.setTimeout = setTimeout;
    vi.useRealTimers();
  });
  // `expect.poll` would advance them.
  return async (timeMs) => {
    while (!startedMs.includes(timeMs)) await nextTick();
  };
}

/** Aborts an attempt in its pause, or after the server has received its request. Returns the number of requests. */
async function aborted(
  state: "pause" | "request",
  listener: RequestListener,
  attempt: (client: ReturnType<typeof createClient>, signal: AbortSignal) => Promise<unknown>,
) {
  const started = stopTimers();
  const { url, count } = await serve(listener);
  const controller = new AbortController();
  const { signal } = controller;
  const outcome = attempt(createClient({ url, signal }), signal).catch((error: unknown) => error);
  while (count() === 0) await nextTick();
  if (state === "pause") await started(PAUSE_S * 1_000);
  const reason = new Error("no longer needed");
  controller.abort(reason);
  expect(await outcome).toBe(reason);
  return count();
}

const later: RequestListener = (_request, response) =>
  response.writeHead(429, { "retry-after": `${PAUSE_S}` }).end("{}");
const streamed = (response: ServerResponse) => response.setHeader("content-type", "text/event-stream");
const readAll = async (stream: AsyncIterable<unknown>) => {
  for await (const _ of stream);
};

test.each<[string, ...Parameters<typeof aborted>]>([
  ["a request between two attempts", "pause", later, (client) => client.blockchain.get()],
  ["a request without a response", "request", () => {}, (client) => client.blockchain.get()],
  ["a list between two attempts", "pause", later, (client) => readAll(client.blocks.list())],
  ["a stream that was refused for a while", "pause", later, (client) => readAll(client.events.stream())],
  [
    "a stream that was refused, by its own signal",
    "pause",
    later,
    (client, signal) => readAll(client.events.stream({ signal })),
  ],
  [
    "a stream whose node asks for a long pause",
    "pause",
    (_request, response) => streamed(response).end(`retry: ${PAUSE_S * 1_000}\n\n`),
    (client) => readAll(client.events.stream()),
  ],
  [
    "a stream without messages",
    "request",
    (_request, response) => streamed(response).write(":\n\n"),
    (client) => readAll(client.events.stream()),
  ],
])("%s ends with the reason", async (_, ...attempt) => {
  expect(await aborted(...attempt)).toBe(1);
});

test("Pauses leave no listener at a signal that is never aborted.", async () => {
  let requests = 0;
  const { url } = await serve((_request, response) => {
    response.writeHead(requests++ % 3 === 2 ? 200 : 503).end("{}");
  });
  const { signal } = new AbortController();
  const client = createClient({ url, signal });
  for (let count = 0; count < 5; count++) await client.blockchain.get();
  expect(requests).toBe(15);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test.each(["999999999999999999", "-5", "soon", "1e3"])(
  "A stream reconnects after two seconds if its node requests a pause of %s ms.",
  async (retry) => {
    const { url, count } = await serve((_request, response) => streamed(response).end(`retry: ${retry}\n\n`));
    const started = stopTimers();
    const controller = new AbortController();
    const outcome = readAll(createClient({ url, signal: controller.signal }).events.stream()).catch(
      () => "ended",
    );
    await started(2_000);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(count()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await expect.poll(count).toBe(2);
    controller.abort();
    expect(await outcome).toBe("ended");
  },
);
