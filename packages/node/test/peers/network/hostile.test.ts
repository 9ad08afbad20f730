/** A node among those who wish it ill: it forges on time, and its memory stays bounded (p2p.md 2 and 6). */
import { randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { createSlotStore } from "../../../src/store/slots.ts";
import { addressOf, createWorld, type TestNode, type World } from "./world.ts";

const PATIENCE = { timeout: 60_000, interval: 250 };
/** What a node takes without any of this, and the bytes of messages that it lets begin. */
const MAX_MEMORY_MIB = 700;

let world: World;
let node: TestNode;
const sockets = new Set<Socket>();
let nextHost = 50;

beforeAll(async () => {
  world = await createWorld({ nodes: 1, blocktime: 2 });
  node = await world.start(0);
}, 90_000);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await world?.close();
});

const HEAD =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";
const HANDSHAKE = '{"event":"#handshake","data":{"authToken":null},"cid":1}';

/** A masked frame of any opcode, of which more may be announced than comes. */
function frame(opcode: number, payload: Uint8Array, announcedBytes = payload.length): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x80 | opcode;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(announcedBytes), 2);
  return Buffer.concat([head, payload]);
}
const textFrame = (text: string) => frame(1, Buffer.from(text));
const call = (event: string, data: object, cid: number) =>
  textFrame(JSON.stringify({ event: `p2p.peer.${event}`, data: { data, headers: {} }, cid }));

/** A socket from an address of its own; whatever it sends, the other side may end it. */
function attacker(...bytes: (Buffer | string)[]): Socket {
  const localAddress = `127.0.0.${nextHost}`;
  nextHost = nextHost === 250 ? 50 : nextHost + 1;
  const socket = connect({ host: addressOf(0), port: world.port, localAddress }).on("error", () => {});
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
  for (const part of bytes) socket.write(part);
  return socket;
}
const opened = () => attacker(HEAD, textFrame(HANDSHAKE));

const memoryMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.process.child.pid}/status`, "utf8"))![1]) / 1024;

/** The node goes on for some blocks while something is done again and again; the most memory it had. */
async function forgesMeanwhile(blocks: number, disturb: () => void): Promise<number> {
  const goal = (await node.height()) + blocks;
  let most = 0;
  await expect
    .poll(async () => {
      disturb();
      most = Math.max(most, memoryMib());
      return node.height();
    }, PATIENCE)
    .toBeGreaterThanOrEqual(goal);
  return most;
}

test.each<[string, () => void]>([
  ["bytes that are nothing", () => attacker(randomBytes(randomInt(1, 5_000)))],
  ["frames that are none", () => opened().write(randomBytes(5_000))],
  ["every opcode", () => opened().write(frame(randomInt(0, 16), randomBytes(randomInt(0, 200))))],
  [
    "JSON that is no message",
    () => opened().write(textFrame(JSON.stringify({ event: [{}], data: [[[[]]]] }))),
  ],
  ["objects in objects", () => opened().write(textFrame('{"a":'.repeat(200_000)))],
  [
    "events by the hundred",
    () => opened().write(Buffer.concat(Array.from({ length: 200 }, (_, cid) => call("getStatus", {}, cid)))),
  ],
  [
    "transactions that are none",
    () => opened().write(call("postTransactions", { transactions: Array(40).fill({ id: "a", type: 0 }) }, 2)),
  ],
  [
    "blocks that are none",
    () =>
      opened().write(
        call("postBlock", { block: { base64: true, data: randomBytes(300).toString("base64") } }, 2),
      ),
  ],
  ["connections that say nothing", () => attacker()],
])("%s", { timeout: 90_000 }, async (_, attack) => {
  const most = await forgesMeanwhile(2, () => {
    for (let count = 0; count < 5; count++) attack();
  });
  expect(most).toBeLessThan(MAX_MEMORY_MIB);
});

test("messages that begin and never end", { timeout: 90_000 }, async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const slow = Array.from({ length: 40 }, () => {
    const socket = opened();
    socket.write(frame(1, megabyte, 21_000_000));
    return socket;
  });
  const most = await forgesMeanwhile(4, () => {
    for (const socket of slow) if (socket.writable && socket.writableLength === 0) socket.write(megabyte);
  });
  expect(most).toBeLessThan(MAX_MEMORY_MIB);
});

test("it missed hardly a slot", async () => {
  const height = await node.height();
  await node.stop();
  const database = openDatabase(join(world.folder, "node-0", "node.sqlite"), { readonly: true });
  // A machine with other things to do may take a slot now and then.
  expect(createSlotStore(database).missed(100).length).toBeLessThan(2 + height / 10);
  database.close();
});
