/** A node ends in order and within seconds after SIGTERM, whatever its peers do (p2p.md 4.3). */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createSlots } from "@uniknode/protocol";
import { afterEach, expect, test } from "vitest";
import { addressOf, createWorld, type TestNode, type World } from "../../../test-support/peers/world.ts";
import { spawnUniknode } from "../../../test-support/process/uniknode.ts";
import { HANDSHAKE } from "../transport/server.ts";
import { type OldNode, startOldNode } from "./old-node.ts";

const PEER = "127.0.9.9";
const LATE_PEER = "127.0.9.12";
const GOOD_PEER = "127.0.9.13";
const STRANGER = "127.0.9.10";

let world: World;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function makeWorld(blocktime = 2): Promise<void> {
  world = await createWorld({ nodes: 1, blocktime });
  closers.push(world.close);
}

async function startPeer(host = PEER): Promise<OldNode> {
  const { network, port, genesis } = world;
  const slots = createSlots(network);
  const { nethash, pubKeyHash: version } = network.description;
  const description = { version, name: "old", nethash, explorer: "", token: { name: "unik", symbol: "U" } };
  const peer = await startOldNode({
    network,
    port,
    host,
    genesis: { header: genesis, transactions: [] },
    config: {
      version: "5.7.2",
      network: description,
      plugins: { "@arkecosystem/core-api": { enabled: true, port: 4003 } },
    },
    currentSlot: () => slots.slotAt(slots.timeAt(Date.now())),
  });
  peer.isReady = true;
  closers.push(peer.close);
  return peer;
}

/** A node with a peer, after its first blocks. */
async function startBeside(): Promise<{ node: TestNode; peer: OldNode }> {
  await makeWorld();
  const peer = await startPeer();
  const node = await world.start(0, "--peers", PEER);
  const isPeer = async () => (await node.get<{ ip: string }[]>("/peers")).some(({ ip }) => ip === PEER);
  await expect.poll(isPeer).toBe(true);
  await expect.poll(node.height).toBeGreaterThan(1);
  return { node, peer };
}

async function expectOrderlyEnd({ process }: Pick<TestNode, "process">): Promise<void> {
  process.child.kill("SIGTERM");
  const { code, stderr } = await process.ended;
  expect({ code, timedOut: stderr.includes("shutdown timed out") }).toEqual({ code: 0, timedOut: false });
}

/** A server that accepts connections and handles them as the test says. */
async function listenSilently(serve: (socket: Socket) => void = () => {}): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on("error", () => {}));
    serve(socket);
  });
  server.listen(world.port, PEER);
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

async function connectTo(node: TestNode): Promise<Socket> {
  const socket = connect({
    port: world.port,
    host: addressOf(node.index),
    localAddress: STRANGER,
    allowHalfOpen: true,
  });
  socket.on("error", () => {});
  await once(socket, "connect");
  closers.push(() => socket.destroy());
  return socket;
}

test("A node ends in order beside a peer that reads nothing and never closes.", async () => {
  const { node, peer } = await startBeside();
  peer.sleep();
  await expectOrderlyEnd(node);
});

test("A node ends in order while requests to a silent peer are pending.", async () => {
  const { node, peer } = await startBeside();
  peer.sleep();
  // The next rounds ping it, and blocks are posted to it.
  const height = await node.height();
  await expect.poll(node.height).toBeGreaterThan(height + 1);
  await expectOrderlyEnd(node);
});

test("A node ends in order while a new block waits for peers, of which one is silent and one refuses it late.", async () => {
  await makeWorld(1);
  const silent = await startPeer();
  const late = await startPeer(LATE_PEER);
  late.refusesAfterMs = 1_400;
  const good = await startPeer(GOOD_PEER);
  const all = [PEER, LATE_PEER, GOOD_PEER];
  const node = await world.start(0, "--peers", all.join());
  const peers = async () => (await node.get<{ ip: string }[]>("/peers")).map(({ ip }) => ip).sort();
  await expect.poll(peers).toEqual(all.sort());
  silent.sleep();
  // Two blocks use up the rate limit of each; the next one waits.
  const height = await node.height();
  await expect.poll(node.height).toBeGreaterThan(height + 2);
  await expectOrderlyEnd(node);
  const { stderr } = await node.process.ended;
  const forged = [...stderr.matchAll(/"height":(\d+),[^\n]*"msg":"block forged"/g)].at(-1)?.[1];
  await expect.poll(() => good.posted).toBe(Number(forged));
});

test.each<[string, (socket: Socket) => void]>([
  ["never responds", () => {}],
  ["closes its half", (socket) => socket.end()],
  [
    "sends its response slowly",
    (socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\n");
      const writing = setInterval(() => socket.write("X-A: b\r\n"), 100);
      socket.on("close", () => clearInterval(writing));
    },
  ],
])("while it dials an address that %s", async (_, serve) => {
  await makeWorld();
  const dialled = Promise.withResolvers<void>();
  await listenSilently((socket) => {
    serve(socket);
    dialled.resolve();
  });
  const node = await world.start(0, "--peers", PEER);
  await dialled.promise;
  await expectOrderlyEnd(node);
});

test("A node ends in order with clients that do not read, half-close, send pings, or stay silent.", async () => {
  await makeWorld();
  const node = await world.start(0);
  await expect.poll(node.height).toBeGreaterThan(1);
  const silent = await connectTo(node);
  const half = await connectTo(node);
  half.end("GET /socketcluster/ HTTP/1.1\r\n");
  const upgraded = await connectTo(node);
  upgraded.write(
    `GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n`,
  );
  await once(upgraded, "data");
  upgraded.end();
  silent.pause();
  const chatty = new (await import("ws")).WebSocket(`ws://${addressOf(0)}:${world.port}/socketcluster/`, {
    localAddress: "127.0.9.11",
    perMessageDeflate: false,
  }).on("error", () => {});
  await once(chatty, "open");
  chatty.send(HANDSHAKE);
  const talking = setInterval(() => chatty.send("#2"), 1_100);
  closers.push(() => {
    clearInterval(talking);
    chatty.terminate();
  });
  await expectOrderlyEnd(node);
});

test("A node ends in order while it fetches the genesis block from an address that never replies.", async () => {
  await makeWorld();
  const dialled = Promise.withResolvers<void>();
  await listenSilently(() => dialled.resolve());
  const options = ["--network", "sandbox", "--data", join(world.folder, "data"), "--http-port", "0"];
  const process = spawnUniknode([
    "run",
    ...options,
    ...["--p2p-host", addressOf(0), "--p2p-port", String(world.port), "--p2p-loopback", "--peers", PEER],
  ]);
  await dialled.promise;
  await expectOrderlyEnd({ process });
});

test("A node ends in order while a dev chain searches for peers.", async () => {
  await makeWorld();
  const dialled = Promise.withResolvers<void>();
  await listenSilently(() => dialled.resolve());
  const process = spawnUniknode([
    ...["dev", "--data", join(world.folder, "dev"), "--http-port", "0", "--log-level", "info"],
    ...["--p2p-host", addressOf(0), "--p2p-port", String(world.port), "--p2p-loopback", "--peers", PEER],
  ]);
  await dialled.promise;
  await expectOrderlyEnd({ process });
});
