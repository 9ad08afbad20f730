/** A signal ends a request or a stream at once, whatever it waits for. */
import { getEventListeners } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/index.ts";

/** Far below the pauses that are aborted. */
const SOON_MS = 10_000;
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

/**
 * Error of an attempt that is aborted after the server has received a request, and the duration from then on.
 */
async function aborted(
  listener: RequestListener,
  attempt: (client: ReturnType<typeof createClient>, signal: AbortSignal) => Promise<unknown>,
) {
  const { url, count } = await serve(listener);
  const controller = new AbortController();
  const { signal } = controller;
  const outcome = attempt(createClient({ url, signal }), signal).catch((error: unknown) => error);
  await expect.poll(count).toBe(1);
  // The response has arrived, and the pause has started.
  await new Promise((next) => setTimeout(next, 200));
  const startMs = performance.now();
  const reason = new Error("no longer needed");
  controller.abort(reason);
  expect(await outcome).toBe(reason);
  expect(performance.now() - startMs).toBeLessThan(SOON_MS);
  return count();
}

const later: RequestListener = (_request, response) =>
  response.writeHead(429, { "retry-after": `${PAUSE_S}` }).end("{}");
const readAll = async (stream: AsyncIterable<unknown>) => {
  for await (const _ of stream);
};

test.each<[string, RequestListener, Parameters<typeof aborted>[1]]>([
  ["a request between two attempts", later, (client) => client.blockchain.get()],
  ["a request without a response", () => {}, (client) => client.blockchain.get()],
  ["a list between two attempts", later, (client) => readAll(client.blocks.list())],
  ["a stream that was refused for a while", later, (client) => readAll(client.events.stream())],
  [
    "a stream that was refused, by its own signal",
    later,
    (client, signal) => readAll(client.events.stream({ signal })),
  ],
  [
    "a stream whose node asks for a long pause",
    (_request, response) => response.end(`retry: ${PAUSE_S * 1_000}\n\n`),
    (client) => readAll(client.events.stream()),
  ],
  [
    "a stream without messages",
    (_request, response) => response.write(":\n\n"),
    (client) => readAll(client.events.stream()),
  ],
])("%s ends with the reason", async (_, listener, attempt) => {
  expect(await aborted(listener, attempt)).toBe(1);
});

test("pauses leave no listener at a signal that is never aborted", async () => {
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
  "a stream does not reconnect before the pause of %s ms that its node requests",
  async (retry) => {
    const { url, count } = await serve((_request, response) => response.end(`retry: ${retry}\n\n`));
    const controller = new AbortController();
    const outcome = readAll(createClient({ url, signal: controller.signal }).events.stream()).catch(
      () => "ended",
    );
    await expect.poll(count).toBe(1);
    await new Promise((next) => setTimeout(next, 500));
    expect(count()).toBe(1);
    controller.abort();
    expect(await outcome).toBe("ended");
  },
);
