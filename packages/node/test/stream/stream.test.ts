import { Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { StreamLimits } from "../../src/stream/open-streams.ts";
import { readSubscription } from "../../src/stream/subscription.ts";
import { heads } from "../../test-support/http/chain.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import {
  applied,
  idsOf,
  openStreams,
  peerAdded,
  reverted,
  TOKEN,
  transfer,
} from "../../test-support/stream/support.ts";

test("The stream sends events from now on, each with its content.", async () => {
  const { listen, emit } = await openStreams();
  const listener = await listen("?events=block.applied,peer.added");
  emit(applied(5), peerAdded("a"));
  await expect.poll(() => listener.events).toHaveLength(2);
  expect(listener.status).toBe(200);
  expect(listener.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
  expect(listener.events).toEqual([
    {
      id: "1.5.500",
      event: "block.applied",
      data: {
        event: "block.applied",
        id: "block.applied:500",
        height: 5,
        blockId: "500",
        data: { id: "500", height: 5 },
      },
    },
    {
      id: "2",
      event: "peer.added",
      data: { event: "peer.added", id: "peer.added:a", data: { ip: "a", latency: 1 } },
    },
  ]);
});

test("The stream responds under both prefixes, only to GET.", async () => {
  const { port, listen } = await openStreams({ isPublic: true });
  expect((await listen()).status).toBe(200);
  const short = await fetch(`http://127.0.0.1:${port}/api/events`);
  expect(short.status).toBe(200);
  await short.body?.cancel();
  expect((await fetch(`http://127.0.0.1:${port}/api/events`, { method: "HEAD" })).status).toBe(405);
});

test("The stream sends only subscribed events, and reverted blocks.", async () => {
  const { listen, emit } = await openStreams();
  const everything = await listen();
  const large = encodeURIComponent(JSON.stringify([{ key: "amount", condition: "gte", value: "100" }]));
  const some = await listen(`?events=transaction.*&conditions=${large}`);
  const peers = await listen("?events=peer.added,peer.removed");
  emit(applied(5), transfer(6, 0, "99"), transfer(6, 1, "100"), applied(6), peerAdded("a"), reverted(6));
  await expect.poll(() => everything.events).toHaveLength(6);
  await expect.poll(() => some.events).toHaveLength(2);
  await expect.poll(() => peers.events).toHaveLength(1);
  expect(idsOf(some)).toEqual(["transaction.applied:600:1", "block.reverted:600"]);
  expect(idsOf(peers)).toEqual(["peer.added:a"]);
});

test("The stream requires all conditions with match=all.", async () => {
  const { listen, emit } = await openStreams();
  const conditions = [
    { key: "amount", condition: "gte", value: "100" },
    { key: "amount", condition: "lt", value: "200" },
  ];
  const query = `?events=transaction.applied&match=all&conditions=${encodeURIComponent(JSON.stringify(conditions))}`;
  const listener = await listen(query);
  emit(transfer(6, 0, "99"), transfer(6, 1, "100"), transfer(6, 2, "200"));
  await expect.poll(() => idsOf(listener)).toEqual(["transaction.applied:600:1"]);
});

test("The stream names an event as the subscription does.", async () => {
  const { listen, emit } = await openStreams();
  const listener = await listen("?events=state:started");
  emit({ id: "state.started:1", name: "state.started", data: true });
  await expect.poll(() => listener.events.map(({ event }) => event)).toEqual(["state:started"]);
});

test.each([
  ["?events=block.aplied", '"events" at position 0'],
  ["?conditions=nonsense", '"conditions" must be an array, as JSON'],
  ["?conditions=[]", '"conditions" must not be empty'],
  ["?match=some", '"match" must be one of any, all'],
  ["?fromHeight=0", '"fromHeight" must be an integer'],
  ["?events=peer.added&fromHeight=1", '"fromHeight" requires events that can be derived from stored blocks'],
  ["?lastEventId=nonsense", '"Last-Event-ID" must be the id of an event'],
  ["?other=1", '"other" is not allowed'],
])("The stream refuses %s.", async (query, message) => {
  const { port } = await openStreams();
  const response = await fetch(`http://127.0.0.1:${port}/api/events${query}`, {
    headers: { authorization: TOKEN },
  });
  expect(response.status).toBe(422);
  expect((await response.json()) as object).toMatchObject({ message: expect.stringContaining(message) });
});

test("The stream requires the token, unless it is public.", async () => {
  const closed = await openStreams();
  expect((await closed.listen("", {})).status).toBe(401);
  expect((await closed.listen("", { authorization: "wrong" })).status).toBe(401);
  expect((await closed.listen("", { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  const open = await openStreams({ isPublic: true });
  expect((await open.listen("", {})).status).toBe(200);
});

test("The stream is neither compressed nor ended by the timeout of responses.", async () => {
  const { listen, emit } = await openStreams({
    options: { heartbeatMs: 10 },
    http: { responseTimeoutMs: 50, rateLimit: { limit: 5, windowMs: 60_000 } },
  });
  const listener = await listen("", { authorization: TOKEN, "accept-encoding": "gzip" });
  // Heartbeats of four timeouts.
  await expect.poll(() => listener.text().split("\n\n").length).toBeGreaterThan(20);
  emit({ ...applied(5), data: { text: "x".repeat(5_000) } });
  await expect.poll(() => listener.events).toHaveLength(1);
  expect(listener.headers["content-encoding"]).toBeUndefined();
  expect(listener.headers["x-ratelimit-userremaining"]).toBe("4");
  expect(listener.isEnded()).toBe(false);
});

test("The stream sends heartbeats with the position.", async () => {
  const { listen, emit } = await openStreams({ options: { heartbeatMs: 10 } });
  const listener = await listen("?events=transaction.applied");
  const other = await listen("?events=peer.added");
  const { id, height } = heads.head;
  await expect.poll(listener.lastId).toBe(`0.${height}.${id}`);
  emit(peerAdded("a"), peerAdded("b"));
  await expect.poll(listener.lastId).toBe(`2.${height}.${id}`);
  expect(listener.events).toEqual([]);
  await expect.poll(() => other.events).toHaveLength(2);
});

test("The stream disconnects a client that does not read, and sends the others every event.", async () => {
  // The client that reads shares this thread: it must not be late for two heartbeats.
  const { listen, emit, stream } = await openStreams({ options: { heartbeatMs: WAIT_MS / 60 } });
  const reading = await listen("?events=peer.added");
  const idle = await listen("?events=peer.added");
  idle.pause();
  const large = "x".repeat(100_000);
  // More than sockets buffer, in pieces.
  for (let count = 0; count < 200; count++) emit({ ...peerAdded(`${count}`), data: { large } });
  await expect.poll(() => reading.events.length).toBe(200);
  await expect.poll(stream.figures).toEqual({ open: 1, cut: 1, unreadBytes: 0 });
  emit(peerAdded("last"));
  await expect.poll(() => idsOf(reading).at(-1)).toBe("peer.added:last");
});

test("The stream keeps a client that reads more slowly than events are sent, and sends it all of them.", async () => {
  const heartbeatMs = 50;
  const { emit, stream } = await openStreams({ options: { heartbeatMs } });
  const events = Array.from({ length: 40 }, (_, index) => peerAdded(`${index}`));
  const opened = await stream.open(
    { subscription: readSubscription({ events: ["peer.added"] }) },
    "127.0.0.1",
  );
  // Full after each event, until the next turn of this timer, of which each heartbeat has several.
  let text = "";
  let onTaken: (() => void) | undefined;
  const response = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      text += chunk;
      onTaken = done;
    },
  });
  const timer = setInterval(() => {
    const done = onTaken;
    onTaken = undefined;
    done?.();
  }, heartbeatMs / 5);
  onTestFinished(() => clearInterval(timer));
  const ended = opened.flow(response);
  emit(...events);
  await expect.poll(() => text).toContain("peer.added:39");
  expect(stream.figures()).toMatchObject({ open: 1, cut: 0 });
  response.destroy();
  await ended;
});

test("The stream replaces a large content by its identifying members.", async () => {
  const { listen, emit } = await openStreams();
  const listener = await listen("?events=block.applied");
  emit({ ...applied(5), data: { id: "500", height: 5, text: "x".repeat(300_000) } });
  await expect.poll(() => listener.events).toHaveLength(1);
  expect(listener.events[0]?.data).toEqual({
    event: "block.applied",
    id: "block.applied:500",
    height: 5,
    blockId: "500",
    truncated: true,
    link: "/api/v2/blocks/500",
    data: { id: "500", height: 5 },
  });
});

test("The number of streams has a bound, and a lower one per address.", async () => {
  const { listen, stream } = await openStreams({ options: { maxStreams: 3, maxStreamsPerClient: 2 } });
  const first = await listen();
  await listen();
  const third = await listen();
  expect(third.status).toBe(429);
  expect(third.headers["retry-after"]).toBe("60");
  first.close();
  await expect.poll(() => stream.figures().open).toBe(1);
  expect((await listen()).status).toBe(200);

  const full = await openStreams({ options: { maxStreams: 1 } });
  await full.listen();
  expect((await full.listen()).status).toBe(503);
});

test("A refused stream does not count.", async () => {
  const { listen } = await openStreams({ options: { maxStreams: 1 } });
  for (let count = 0; count < 3; count++) {
    expect((await listen("", { authorization: TOKEN, "last-event-id": "77" })).status).toBe(410);
  }
  expect((await listen()).status).toBe(200);
});

test("A stream that timed out while it was opened does not count.", async () => {
  const response = Promise.withResolvers<void>();
  const { listen } = await openStreams({
    options: { maxStreams: 1 },
    http: { responseTimeoutMs: 50 },
    responded: () => response.promise,
  });
  expect((await listen()).status).toBe(503);
  response.resolve();
  await expect.poll(async () => (await listen()).status).toBe(200);
});

test("The document of the interface describes the stream.", async () => {
  const { fixture } = await openStreams();
  const document = (await fixture.app.inject("/api/openapi.json")).json<{
    paths: Record<string, { get: { parameters: { name: string }[]; responses: Record<string, object> } }>;
  }>();
  const { parameters, responses } = present(document.paths["/events"], "the stream").get;
  const names = ["events", "conditions", "match", "fromHeight", "lastEventId"];
  expect(parameters.map(({ name }) => name)).toEqual(names);
  expect(responses[200]).toMatchObject({ content: { "text/event-stream": { schema: { type: "string" } } } });
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(["401", "410", "422", "429", "503"]));
});

test("The stream ends with the server.", async () => {
  const { listen, fixture } = await openStreams();
  const listener = await listen();
  await fixture.app.close();
  await expect.poll(listener.isEnded).toBe(true);
});

test("Events without subscribers are not recorded.", async () => {
  const { listen, emit, eventLog, stream, clock, node } = await openStreams();
  emit(peerAdded("a"));
  expect(eventLog.lastSequence()).toBe(0);
  const listener = await listen("?events=peer.added");
  emit(peerAdded("b"), applied(5));
  expect(eventLog.read(0, 10).map(({ id }) => id)).toEqual(["peer.added:b"]);
  listener.close();
  await expect.poll(() => stream.figures().open).toBe(0);
  // A client that reconnects soon misses nothing.
  emit(peerAdded("c"));
  expect(eventLog.lastSequence()).toBe(2);
  clock.nowMs += 60_000;
  node.subscribedEvents.dropExpired();
  emit(peerAdded("d"));
  expect(eventLog.lastSequence()).toBe(2);
});

test("Addresses of one /64 are one client, and those of one /48 share a bound.", () => {
  const options = { maxStreams: 100, maxStreamsPerClient: 2, maxStreamsPerSite: 3 };
  const limits = new StreamLimits(options);
  const acquire = (address: string) => limits.acquire(address);
  acquire("2001:db8:1:1::1");
  const leave = acquire("2001:db8:1:1::2");
  expect(() => acquire("2001:db8:1:1:ffff::3")).toThrow("2 streams are already open from 2001:db8:1:1::/64");
  acquire("2001:db8:1:2::1");
  expect(() => acquire("2001:db8:1:3::1")).toThrow("3 streams are already open from 2001:db8:1::/48");
  acquire("2001:db8:2::1");
  acquire("192.0.2.1");
  acquire("::ffff:192.0.2.1");
  expect(() => acquire("192.0.2.1")).toThrow("2 streams are already open from 192.0.2.1");
  leave();
  leave();
  expect(limits.open()).toBe(5);
  acquire("2001:db8:1:3::1");
});

test("The unread bytes of all clients together are bounded.", async () => {
  const { listen, emit, stream } = await openStreams({ options: { maxUnreadBytes: 1_000_000 } });
  const idle = await Promise.all(Array.from({ length: 10 }, () => listen("?events=peer.added")));
  for (const { pause } of idle) pause();
  const reading = await listen("?events=peer.added");
  // Each of them has one unread event that its socket does not accept.
  for (let count = 0; count < 60; count++) {
    emit({ ...peerAdded(`${count}`), data: { text: `${count}`.padEnd(200_000, "x") } });
  }
  await expect.poll(() => stream.figures().cut).toBeGreaterThanOrEqual(5);
  expect(stream.figures().unreadBytes).toBeLessThanOrEqual(1_000_000);
  await expect.poll(() => reading.events.length).toBe(60);
});
