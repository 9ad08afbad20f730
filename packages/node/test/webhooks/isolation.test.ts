/** Receivers that do everything but their work, and others beside them that must not notice. */

import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/webhooks/clock.ts";
import { createPost, DEFAULT_POST_OPTIONS } from "../../src/webhooks/delivery/post.ts";
import { always, blockApplied, createService } from "./support.ts";

/** Answers on a connection of which the first bytes have come. */
type Behaviour = (socket: Socket) => void;

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

const HOSTILE: Readonly<Record<string, Behaviour>> = {
  "never answers": () => {},
  "answers byte by byte"(socket) {
    let sent = 0;
    const timer = setInterval(() => socket.write(ANSWER[sent++ % 17] ?? "x"), 100);
    socket.on("close", () => clearInterval(timer));
  },
  "never ends its answer"(socket) {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = `400\r\n${"x".repeat(1_024)}\r\n`;
    const timer = setInterval(() => socket.write(chunk), 5);
    socket.on("close", () => clearInterval(timer));
  },
  "resets at once": (socket) => void socket.resetAndDestroy(),
  "answers nonsense": (socket) => void socket.end("what do you want?\r\n\r\n"),
  "answers too many headers": (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\n${"x-a: ".padEnd(100, "y")}\r\n`.repeat(2_000)),
};

async function listen(behave: Behaviour) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => behave(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A receiver that answers everything at once, and counts. */
async function good() {
  const seen = { count: 0 };
  const target = await listen((socket) => {
    const answer = () => {
      seen.count++;
      socket.write(ANSWER);
    };
    answer();
    socket.on("data", (chunk) => {
      if (chunk.includes("POST ")) answer();
    });
  });
  return { seen, target };
}

function open(timeoutMs: number) {
  const { post, close } = createPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true, timeoutMs });
  onTestFinished(close);
  return createService({
    post,
    clock: { ...systemClock, advance: async () => {} },
    options: { maxWebhooks: 2_000 },
  });
}

const events = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));

describe("a receiver that", () => {
  test.each(Object.entries(HOSTILE))("%s delays no other", async (_name, behave) => {
    const { webhooks, emit } = open(30_000);
    const hostile = await listen(behave);
    for (let count = 0; count < 50; count++) await webhooks.register.create(always("block.applied", hostile));
    const { seen, target } = await good();
    await webhooks.register.create(always("block.applied", target));
    await emit(...events(100));
    await expect.poll(() => seen.count, { timeout: 10_000 }).toBe(100);
  });
});

test("a thousand hostile webhooks delay no other", { timeout: 60_000 }, async () => {
  // Nobody gives up before the others are through.
  const { webhooks, emit, database } = open(60_000);
  const targets = await Promise.all(Object.values(HOSTILE).map(listen));
  for (let count = 0; count < 1_000; count++) {
    await webhooks.register.create(always("block.applied", targets[count % targets.length]!));
  }
  const { seen, target } = await good();
  for (let count = 0; count < 5; count++) await webhooks.register.create(always("block.applied", target));
  await emit(...events(10));
  await expect.poll(() => seen.count, { timeout: 40_000 }).toBe(50);
  const delivered = database.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM deliveries WHERE webhook > 1000 AND state = 'delivered'",
  );
  await expect.poll(() => delivered.get()?.count, { timeout: 10_000 }).toBe(50);
});
