/** Clients that disconnect at any moment leave nothing in memory. */
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { openStreams, peerAdded } from "../../test-support/stream/support.ts";

const streamsOf = (port: number, path: string, method = "GET") =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, path, method, agent: false }, resolve).on("error", reject);
  });

test("A path with a trailing slash is redirected, and opens no stream.", async () => {
  const { port, stream } = await openStreams({ isPublic: true });
  for (const path of ["/api/v2/events/?events=peer.added", "/api/events//"]) {
    const response = await streamsOf(port, path);
    expect(response.statusCode).toBe(301);
    expect(new URL(`${response.headers.location}`, `http://node${path}`).href).toBe(
      `http://node${path.replace(/\/+(?=\?|$)/, "")}`,
    );
    response.destroy();
  }
  expect(stream.figures().open).toBe(0);
});

test("Neither HEAD nor OPTIONS nor another method opens a stream.", async () => {
  const { port, stream } = await openStreams({ isPublic: true });
  for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "DELETE"]) {
    for (const path of ["/api/events", "/api/v2/events/"]) {
      const response = await streamsOf(port, path, method);
      expect([method, path, response.statusCode]).toEqual([method, path, path.endsWith("/") ? 404 : 405]);
      response.resume();
    }
  }
  expect(stream.figures().open).toBe(0);
});

test("Clients that disconnect at any moment leak nothing.", async () => {
  const { port, stream, emit } = await openStreams({
    isPublic: true,
    options: { maxStreams: 1_000, maxStreamsPerClient: 1_000, maxStreamsPerSite: 1_000 },
    // Some disconnect before the stream is ready.
    responded: () => setTimeout(Math.random() * 10),
  });
  const condition = encodeURIComponent('[{"key":"ip","condition":"regexp","value":"^1"}]');
  const paths = [
    "/api/events?events=peer.added",
    "/api/v2/events?events=block.applied&fromHeight=1",
    `/api/events?events=peer.added&conditions=${condition}`,
    "/api/events/?events=peer.added",
  ];
  const visits = Array.from({ length: 200 }, async (_, count) => {
    await setTimeout(Math.random() * 1_000);
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    // Half of them read.
    if (count % 2 === 0) socket.resume();
    socket.write(`GET ${paths[count % paths.length]} HTTP/1.1\r\nhost: node.example\r\n\r\n`);
    await setTimeout(Math.random() * 60);
    if (count % 3 === 0) socket.resetAndDestroy();
    else socket.destroy();
  });
  for (let count = 0; count < 50; count++) {
    emit({ ...peerAdded(`${count}`), data: { ip: `${count}`, text: "x".repeat(50_000) } });
    await setTimeout(20);
  }
  await Promise.all(visits);
  await expect.poll(stream.figures).toMatchObject({ open: 0, unreadBytes: 0 });
});
