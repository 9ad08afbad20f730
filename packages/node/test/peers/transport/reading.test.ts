/** Long messages of many connections: event-loop ticks separate them, and each connection keeps its order. */
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { callText, open, startServer } from "./server.ts";

/** Keeps the thread busy. */
function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Counts the ticks of the event loop until it is stopped. */
function countTicks(): { readonly stop: () => number } {
  let ticks = 0;
  let isStopped = false;
  const count = () => {
    ticks++;
    if (!isStopped) setImmediate(count);
  };
  setImmediate(count);
  return {
    stop() {
      isStopped = true;
      return ticks;
    },
  };
}

/** Forty payments to 128 recipients each, the largest message that peers accept. */
const transactions = Array.from({ length: 40 }, (_, index) => ({
  id: `${index}`,
  asset: { payments: Array.from({ length: 128 }, () => ({ amount: "1", recipientId: "D".repeat(34) })) },
}));

test("Long messages of many connections are read in several event-loop ticks, in the order of each.", async () => {
  let tick = 0;
  const count = () => {
    tick++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  onTestFinished(() => clearImmediate(timer));
  const readAt: number[] = [];
  const { server, port } = await startServer({
    handle: async () => {
      readAt.push(tick);
      return [];
    },
  });
  onTestFinished(() => server.close());
  const sockets = await Promise.all([1, 2, 3, 4, 5, 6].map((host) => open(port, `127.0.0.${host}`)));
  const replies = sockets.map((socket) => {
    const ids: number[] = [];
    socket.on("message", (text) => {
      // On a busy machine, pings arrive as well.
      if (String(text) === "#1") socket.send("#2");
      else ids.push((JSON.parse(String(text)) as { rid: number }).rid);
    });
    return ids;
  });
  const long = [2, 3, 4, 5, 6].map((cid) => callText("p2p.peer.postTransactions", { transactions }, cid));
  for (const socket of sockets) for (const text of long) socket.send(text);
  // A short message does not overtake the long ones.
  for (const socket of sockets) socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, 7));
  await expect.poll(() => replies).toEqual(sockets.map(() => [2, 3, 4, 5, 6, 7]));
  // The number of messages in a tick depends on the machine: the slices have tests of their own.
  expect(new Set(readAt).size).toBeGreaterThan(1);
  for (const socket of sockets) socket.terminate();
});

test("A connection that ends while its messages are queued leaves nothing in memory.", async () => {
  const { server, port } = await startServer();
  onTestFinished(() => server.close());
  const socket = await open(port);
  for (const cid of [2, 3, 4]) socket.send(callText("p2p.peer.postTransactions", { transactions }, cid));
  await once(socket, "message");
  socket.terminate();
  await expect.poll(() => server.figures().sessions).toBe(0);
});

test("A hundred messages that arrive together are processed in several ticks.", async () => {
  let handled = 0;
  const { server, port } = await startServer({
    async handle() {
      burn(3);
      handled++;
      return [];
    },
  });
  onTestFinished(() => server.close());
  const sockets = await Promise.all(["127.0.0.2", "127.0.0.3"].map((address) => open(port, address)));
  const ticks = countTicks();
  for (const socket of sockets) {
    for (let cid = 2; cid < 52; cid++) {
      socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, cid));
    }
  }
  await expect.poll(() => handled).toBe(100);
  expect(ticks.stop()).toBeGreaterThan(20);
  for (const socket of sockets) socket.terminate();
});

test("A call is executed even if its sender closes at once.", async () => {
  const calls: string[] = [];
  const { server, port } = await startServer({
    async handle({ event }) {
      calls.push(event);
      return [];
    },
  });
  onTestFinished(() => server.close());
  const socket = await open(port, "127.0.0.2");
  socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, 2));
  socket.close();
  await once(socket, "close");
  await expect.poll(() => calls).toEqual(["p2p.peer.postTransactions"]);
});
