import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, createClient, type StreamedEvent, type StreamOptions } from "@uniknode/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { heads } from "../../../test-support/http/chain.ts";
import { openStreams, peerAdded, TOKEN } from "../../../test-support/stream/support.ts";

/** Events of a stream until the end of the test. */
function listen(client: Client, options: StreamOptions = {}) {
  const controller = new AbortController();
  const received: StreamedEvent[] = [];
  const ended = (async () => {
    for await (const event of client.events.stream({ ...options, signal: controller.signal }))
      received.push(event);
  })().catch((error: unknown) => error);
  onTestFinished(() => controller.abort());
  return { received, ended, controller };
}

async function open() {
  const streams = await openStreams();
  const url = `http://127.0.0.1:${streams.port}`;
  return { ...streams, url, client: createClient({ url, webhookToken: TOKEN }) };
}

describe("a stream", () => {
  test("A stream delivers events as they occur.", async () => {
    const { client, emit, stream } = await open();
    const { received } = listen(client, { events: ["peer.*"] });
    await expect.poll(() => stream.figures().open).toBe(1);
    emit(peerAdded("a"), peerAdded("b"));
    await expect.poll(() => received.map(({ id }) => id)).toEqual(["peer.added:a", "peer.added:b"]);
    expect(received[0]).toMatchObject({ event: "peer.added", position: expect.stringMatching(/^\d/) });
  });

  test("A stream starts at a block of the past, and continues after a position.", async () => {
    const { client } = await open();
    const { received } = listen(client, { events: ["block.applied"], fromHeight: 2 });
    await expect.poll(() => received.map(({ height }) => height)).toEqual([2, 3, 4]);
    expect(received[2]).toMatchObject({ blockId: heads.head.id, data: { id: heads.head.id } });
    const again = listen(client, {
      events: ["block.applied"],
      lastEventId: present(received[1], "an event").position,
    });
    await expect.poll(() => again.received.at(-1)?.height).toBe(4);
  });

  test("A stream delivers only events that match the conditions.", async () => {
    const { client } = await open();
    const conditions = [{ key: "height", condition: "gt", value: "3" }] as const;
    const { received } = listen(client, {
      events: ["block.applied"],
      conditions,
      match: "all",
      fromHeight: 1,
    });
    await expect.poll(() => received.map(({ height }) => height)).toEqual([4]);
  });

  test("A stream ends with its signal, and when the loop is left.", async () => {
    const { client, stream } = await open();
    const { ended, controller } = listen(client);
    await expect.poll(() => stream.figures().open).toBe(1);
    controller.abort(new Error("enough"));
    expect(await ended).toEqual(new Error("enough"));
    for await (const { height } of client.events.stream({ events: ["block.applied"], fromHeight: 1 })) {
      expect(height).toBe(1);
      break;
    }
    await expect.poll(() => stream.figures().open).toBe(0);
  });

  test.each([
    ["another token", "wrong", {}, { code: "API_UNAUTHORIZED", status: 401 }],
    ["an unknown event", TOKEN, { events: ["fly"] }, { code: "API_REFUSED", status: 422 }],
    [
      "a reverted block",
      TOKEN,
      { lastEventId: `9.4.${"ab".repeat(32)}` },
      { code: "API_REFUSED", status: 410 },
    ],
  ])("A stream does not start with %s.", async (_case, webhookToken, options, error) => {
    const { url } = await open();
    const { ended } = listen(createClient({ url, webhookToken }), options);
    expect(await ended).toMatchObject(error);
  });
});

test("A broken connection is opened again after the last event.", async () => {
  const requested: (string | null)[] = [];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://a").searchParams;
    requested.push(query.get("lastEventId") ?? query.get("fromHeight"));
    if (requested.length === 2) return response.writeHead(503, { "retry-after": "0" }).end("{}");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 1\nid: ${requested.length}\n\n`);
    // Cut in the middle of a character.
    const text = Buffer.from(`id: ${requested.length}.1\nevent: a\ndata: {"event":"a","id":"œ"}\n\n`);
    response.write(text.subarray(0, text.indexOf(0xc5) + 1), () => {
      response.write(text.subarray(text.indexOf(0xc5) + 1), () => {
        if (requested.length < 4) request.socket.destroySoon();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const { received } = listen(client, { fromHeight: 7 });
  await expect.poll(() => received.map(({ position }) => position)).toEqual(["1.1", "3.1", "4.1"]);
  expect(requested).toEqual(["7", "1.1", "1.1", "3.1"]);
  expect(received[0]).toEqual({ event: "a", id: "œ", position: "1.1" });
});
