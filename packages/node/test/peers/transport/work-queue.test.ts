/** Messages of peers are processed in slices, and their senders take turns. */
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createWorkQueue, type Work } from "../../../src/peers/transport/work-queue.ts";
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

function* work(steps: number, done: string[], name: string): Work<string> {
  for (let step = 0; step < steps; step++) {
    burn(2);
    yield;
  }
  done.push(name);
  return name;
}

test("Other work comes between the slices.", async () => {
  const queue = createWorkQueue();
  const ticks = countTicks();
  await queue.run("a", work(100, [], "long"));
  // 200 ms of work, a few milliseconds of it at a time.
  expect(ticks.stop()).toBeGreaterThan(15);
});

test("A sender with much work does not delay another one, and its own messages keep their order.", async () => {
  const queue = createWorkQueue();
  const done: string[] = [];
  await Promise.all([
    queue.run("attacker", work(50, done, "first")),
    queue.run("attacker", work(1, done, "second")),
    queue.run("peer", work(2, done, "peer")),
  ]);
  expect(done).toEqual(["peer", "first", "second"]);
});

test("A failure belongs to its work.", async () => {
  const queue = createWorkQueue();
  const failing = queue.run(
    "a",
    (function* (): Work<void> {
      yield;
      throw new Error("no");
    })(),
  );
  const following = queue.run("a", work(1, [], "following"));
  await expect(failing).rejects.toThrow("no");
  expect(await following).toBe("following");
});

test("A hundred messages that arrive together are not processed in one tick.", async () => {
  let answered = 0;
  const { server, port } = await startServer({
    async answer() {
      burn(3);
      answered++;
      return [];
    },
  });
  onTestFinished(server.close);
  const sockets = await Promise.all(["127.0.0.2", "127.0.0.3"].map((address) => open(port, address)));
  const ticks = countTicks();
  for (const socket of sockets) {
    for (let cid = 2; cid < 52; cid++) {
      socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, cid));
    }
  }
  await expect.poll(() => answered).toBe(100);
  expect(ticks.stop()).toBeGreaterThan(20);
  for (const socket of sockets) socket.terminate();
});

test("A call is executed although its sender closes at once.", async () => {
  const calls: string[] = [];
  const { server, port } = await startServer({
    async answer({ event }) {
      calls.push(event);
      return [];
    },
  });
  onTestFinished(server.close);
  const socket = await open(port, "127.0.0.2");
  socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, 2));
  socket.close();
  await once(socket, "close");
  await expect.poll(() => calls).toEqual(["p2p.peer.postTransactions"]);
});
