/** Clock check at the start of a node, with servers at the loopback address. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { checkClock, MAX_OFFSET_MS, readTimeServer } from "../../../src/platform/clock/clock-check.ts";
import { replyOf, startTimeServer } from "../../../test-support/platform/time-server.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Address of a server that replies to each request with the result of a function. */
async function serve(repliesTo: (request: Buffer) => Buffer[], host?: string): Promise<string> {
  const { server, close } = await startTimeServer(repliesTo, host);
  closers.push(close);
  return server;
}

const OURS_MS = Date.UTC(2026, 0, 1);

/** Log lines of a check; our clock does not advance, so that offsets are exact. */
async function check(servers: string[], { nowMs = OURS_MS, signal = new AbortController().signal } = {}) {
  const lines: { level: number; msg: string; offsetMs?: number; server?: string; reasons?: string[] }[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  await checkClock(servers, { nowMs: () => nowMs, signal, logger });
  return lines;
}

const INFO = 30;
const WARN = 40;

test("A time server to which the system refuses to send is not used.", async () => {
  // The system refuses broadcasts.
  const [line] = await check(["255.255.255.255"]);
  expect(line).toMatchObject({ level: WARN, msg: expect.stringContaining("clock not checked") });
});

describe("an offset", () => {
  test.each([
    ["of nothing", 0, INFO],
    ["ahead, up to the bound", MAX_OFFSET_MS, INFO],
    ["behind, up to the bound", -MAX_OFFSET_MS, INFO],
    ["ahead, beyond it", MAX_OFFSET_MS + 1, WARN],
    ["behind, beyond it", -MAX_OFFSET_MS - 1, WARN],
    ["of years", 400 * 86_400_000, WARN],
  ])("%s is logged", async (_name, offsetMs, level) => {
    const server = await serve((request) => [replyOf(request, OURS_MS + offsetMs)]);
    expect(await check([server])).toEqual([
      expect.objectContaining({ level, server, offsetMs, msg: "clock compared with a time server" }),
    ]);
  });

  test("An offset is correct after the protocol's seconds overflow in 2036.", async () => {
    const nowMs = Date.UTC(2040, 0, 1);
    const server = await serve((request) => [replyOf(request, nowMs + 250)]);
    expect(await check([server], { nowMs })).toMatchObject([{ level: INFO, offsetMs: 250 }]);
  });

  test("An offset is measured over IPv6 as well.", async () => {
    const server = await serve((request) => [replyOf(request, OURS_MS)], "::1");
    expect(await check([server])).toMatchObject([{ level: INFO, offsetMs: 0 }]);
  });
});

test("Unrelated replies are ignored.", async () => {
  const server = await serve((request) => [
    Buffer.alloc(47),
    replyOf(Buffer.alloc(48), OURS_MS + 5_000),
    replyOf(request, OURS_MS + 6_000, { head: 0x23 }),
    replyOf(request, OURS_MS + 7_000, { stratum: 0 }),
    replyOf(request, OURS_MS + 8_000, { stratum: 16 }),
    replyOf(request, OURS_MS + 100),
  ]);
  expect(await check([server])).toMatchObject([{ offsetMs: 100 }]);
});

test("The next server is queried if one does not reply.", async () => {
  const closed = createSocket("udp4");
  closed.bind(0, "127.0.0.1");
  await once(closed, "listening");
  const gone = `127.0.0.1:${closed.address().port}`;
  closed.close();
  const server = await serve((request) => [replyOf(request, OURS_MS)]);
  expect(await check([gone, server])).toMatchObject([{ level: INFO, server }]);
});

test("The absence of any reply is logged.", async () => {
  const silent = await serve(() => []);
  expect(await check([silent])).toMatchObject([
    { level: WARN, msg: expect.stringContaining("no time server responded") },
  ]);
});

test("Unresolvable names are logged.", async () => {
  expect(await check(["unknown.invalid", "nowhere.invalid:124"])).toMatchObject([
    { level: WARN, msg: expect.stringContaining("failed to resolve the time servers") },
  ]);
});

test("Nothing is queried or logged without servers.", async () => {
  expect(await check([])).toEqual([]);
});

test("A stopping node waits for no server.", async () => {
  const stopping = new AbortController();
  const silent = await serve(() => {
    stopping.abort();
    return [];
  });
  expect(await check([silent], { signal: stopping.signal })).toEqual([]);
});

test.each([
  ["pool.ntp.org", { host: "pool.ntp.org", port: 123 }],
  ["192.0.2.1:1123", { host: "192.0.2.1", port: 1123 }],
  ["[2001:db8::1]", { host: "2001:db8::1", port: 123 }],
])("%s is a time server", (text, expected) => {
  expect(readTimeServer(text)).toEqual(expected);
});

test.each(["", "a b", "ntp://pool.ntp.org", "2001:db8::1", "host:", "host:99999", "host/path", "user@host"])(
  "%j is not",
  (text) => {
    expect(() => readTimeServer(text)).toThrow(/time servers are expected/);
  },
);
