/** Attacks on the peer port: the node forges, and its memory stays bounded (p2p.md 2, 6 and 10). `siege` measures its delays. */
import { randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import {
  type BlockHeader,
  builders,
  createSlots,
  encodeBlock,
  forgeBlock,
  keysFromPassphrase,
} from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { seal } from "../../../src/dev-chain/network.ts";
import { headerFromPeer } from "../../../src/peers/peer-table.ts";
import { present } from "../../../src/platform/present.ts";
import { addressOf, createWorld, type TestNode, type World } from "../../../test-support/peers/world.ts";
import { askFrom, type Liar, type Lies, madeUp, startLiar } from "./liar.ts";

const POLL = { interval: 250 };
/** Memory of a node without an attack, and the bound on incomplete messages. */
const MAX_MEMORY_MIB = 700;

let world: World;
let node: TestNode;
const sockets = new Set<Socket>();
const liars: Liar[] = [];
let nextHost = 50;
let nextQuiet = 1;

beforeAll(async () => {
  world = await createWorld({ nodes: 1, blocktime: 2 });
  node = await world.start(0);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const { close } of liars) await close();
  await world?.close();
});

const HEAD =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";
const HANDSHAKE = '{"event":"#handshake","data":{"authToken":null},"cid":1}';

/** A masked frame of any opcode, which may announce more than it sends. */
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

/** An address that was not used recently. */
function freshAddress(): string {
  nextHost = nextHost === 250 ? 50 : nextHost + 1;
  return `127.0.0.${nextHost}`;
}

/** An address that was not used before, of a subnet with free connections: the longer a test waits, the more it needs. */
function quietAddress(): string {
  const number = nextQuiet++;
  return `127.1.${number >> 6}.${1 + (number & 63)}`;
}

/** A socket from its own address; whatever it sends, the other side may close it. */
function attacker(...bytes: (Buffer | string)[]): Socket {
  const localAddress = freshAddress();
  const socket = connect({ host: addressOf(0), port: world.port, localAddress }).on("error", () => {});
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
  for (const part of bytes) socket.write(part);
  return socket;
}
const opened = () => attacker(HEAD, textFrame(HANDSHAKE));

const memoryMib = () =>
  Number(present(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.process.child.pid}/status`, "utf8")))[1]) /
  1024;

/** Repeats an attack while the node forges some blocks; returns its maximum memory. */
async function forgesMeanwhile(blocks: number, disturb: () => void): Promise<number> {
  const goal = (await node.height()) + blocks;
  let most = 0;
  await expect
    .poll(async () => {
      disturb();
      most = Math.max(most, memoryMib());
      return node.height();
    }, POLL)
    .toBeGreaterThanOrEqual(goal);
  return most;
}

test.each<[string, () => void]>([
  ["random bytes", () => attacker(randomBytes(randomInt(1, 5_000)))],
  ["invalid frames", () => opened().write(randomBytes(5_000))],
  ["every opcode", () => opened().write(frame(randomInt(0, 16), randomBytes(randomInt(0, 200))))],
  [
    "JSON that is not a message",
    () => opened().write(textFrame(JSON.stringify({ event: [{}], data: [[[[]]]] }))),
  ],
  ["objects in objects", () => opened().write(textFrame('{"a":'.repeat(200_000)))],
  [
    "hundreds of events",
    () => opened().write(Buffer.concat(Array.from({ length: 200 }, (_, cid) => call("getStatus", {}, cid)))),
  ],
  [
    "invalid transactions",
    () => opened().write(call("postTransactions", { transactions: Array(40).fill({ id: "a", type: 0 }) }, 2)),
  ],
  [
    "invalid blocks",
    () =>
      opened().write(
        call("postBlock", { block: { base64: true, data: randomBytes(300).toString("base64") } }, 2),
      ),
  ],
  ["silent connections", () => attacker()],
])("%s", async (_, attack) => {
  const most = await forgesMeanwhile(2, () => {
    for (let count = 0; count < 5; count++) attack();
  });
  expect(most).toBeLessThan(MAX_MEMORY_MIB);
});

test("A node forges despite incomplete messages.", async () => {
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

test("A node forges despite clients that send requests and do not read.", async () => {
  const question = {
    event: "uniknode.peer.getBlocks",
    data: { data: { lastBlockHeight: 1, blockLimit: 2_000 }, headers: {} },
  };
  const readers = Array.from({ length: 10 }, () => opened().pause());
  let cid = 1;
  const most = await forgesMeanwhile(4, () => {
    cid++;
    for (const reader of readers)
      if (reader.writable) reader.write(textFrame(JSON.stringify({ ...question, cid })));
  });
  expect(most).toBeLessThan(MAX_MEMORY_MIB);
});

/** Status of the first node of a world, requested from an unknown address. */
async function buildStatus(world: World) {
  const way = [quietAddress(), addressOf(0)] as const;
  const status = (await askFrom(world, way, "p2p.peer.getStatus", {})) as Lies["status"];
  const { header } = status.state as { header: Record<string, unknown> };
  return { status, head: headerFromPeer(header as never, world.network) };
}

test("A node withstands invalid blocks of a delegate.", async () => {
  // One of its two delegates is the attacker.
  const divided = await createWorld({ nodes: 2, blocktime: 2 });
  onTestFinished(divided.close);
  const victim = await divided.start(0);
  const slots = createSlots(divided.network);
  const villain = present(divided.delegates[1]);
  // More than its balance.
  const transfer = seal(
    builders.transfer({
      network: divided.network,
      senderPublicKey: villain.publicKey,
      nonce: 1n,
      recipientId: villain.address,
      amount: 10n ** 18n,
    }),
    villain,
  );
  let taken = 0;
  async function post(): Promise<void> {
    const { head } = await buildStatus(divided);
    const timestamp = slots.slotTime(slots.slotAt(slots.timeAt(Date.now())));
    const plan = { network: divided.network, timestamp, previous: head, transactions: [transfer] };
    const block = encodeBlock(forgeBlock(plan, villain.keys), divided.network);
    const way = [quietAddress(), addressOf(0)] as const;
    if ((await askFrom(divided, way, "p2p.peer.postBlock", { block })) !== undefined) taken++;
  }
  await expect.poll(() => victim.height(), POLL).toBeGreaterThanOrEqual(3);
  await expect
    .poll(async () => {
      await post();
      return taken;
    }, POLL)
    .toBeGreaterThan(3);
  const height = await victim.height();
  await expect.poll(() => victim.height(), POLL).toBeGreaterThan(height + 1);
  const rows = await victim.get<{ transactions: number }[]>("/blocks?limit=100");
  expect(rows.slice(0, -1).every(({ transactions }) => transactions === 0)).toBe(true);
});

test("A node withstands a height that is claimed on top of one real block.", async () => {
  // One of its two delegates forges the last block of each round, which is all that a verifier can request.
  const divided = await createWorld({ nodes: 2, blocktime: 2 });
  onTestFinished(divided.close);
  const victim = await divided.start(0);
  const slots = createSlots(divided.network);
  const villain = present(divided.delegates[1]);
  const unknown = keysFromPassphrase("unknown");
  await expect.poll(() => victim.height(), POLL).toBeGreaterThanOrEqual(3);
  const { status } = await buildStatus(divided);
  const host = quietAddress();
  let common = divided.genesis;
  const next = () =>
    forgeBlock(
      {
        network: divided.network,
        timestamp: slots.slotTime(slots.slotAt(common.timestamp) + 1),
        previous: common,
        transactions: [],
      },
      villain.keys,
    ).header;
  const liar = await startLiar(divided, host, {
    status,
    get common() {
      return common;
    },
    // An honest peer, until the block after the next one is of another round.
    get head() {
      const slot = slots.slotAt(slots.timeAt(Date.now()));
      const isTime = common.height % 2 === 1 && slot > slots.slotAt(common.timestamp);
      if (!isTime) return common;
      return madeUp(divided.network, { ...common, height: 999_998, id: "ab".repeat(32) }, unknown);
    },
    headersAfter: (height, isVerified) => (isVerified && height === common.height ? [next()] : []),
  });
  onTestFinished(liar.close);
  async function follow(): Promise<number> {
    const { head } = await buildStatus(divided);
    common = head;
    void askFrom(divided, [host, addressOf(0)], "p2p.peer.getPeers", {});
    return head.height;
  }
  await expect
    .poll(async () => {
      await follow();
      return victim.process.stdout() + victim.process.stderr();
    }, POLL)
    .toMatch(/(does|did) not send the blocks that it claims/);
  const goal = (await victim.height()) + 3;
  await expect.poll(follow, POLL).toBeGreaterThanOrEqual(goal);
});

describe("peers", () => {
  const unknown = keysFromPassphrase("unknown");
  /** Id without a block. */
  const UNKNOWN = "ab".repeat(32);

  /** Peer whose chain has only the first block in common with the others. */
  async function lieWith(lies: (common: BlockHeader) => Pick<Lies, "head" | "headersAfter">): Promise<Liar> {
    const { status } = await buildStatus(world);
    const common = world.genesis;
    const liar = await startLiar(world, quietAddress(), { status, common, ...lies(common) });
    liars.push(liar);
    return liar;
  }
  /** Makes a node dial its callers. */
  const call = ({ host }: Liar) => void askFrom(world, [host, addressOf(0)], "p2p.peer.getPeers", {});
  /** Returns what the node has requested since it was called again and again. */
  function requestedFrom(liar: Liar): readonly string[] {
    call(liar);
    return liar.requested;
  }
  const peersOfNode = () => node.get<unknown[]>("/peers");

  test("A node withstands peers that claim a false height.", async () => {
    const liar = await lieWith((common) => ({
      head: madeUp(world.network, { ...common, height: 999_999, id: UNKNOWN }, unknown),
      headersAfter: () => [],
    }));
    await expect.poll(() => requestedFrom(liar), POLL).toContain("p2p.peer.getCommonBlocks");
    const most = await forgesMeanwhile(4, () => call(liar));
    expect(await peersOfNode()).toEqual([]);
    expect(most).toBeLessThan(MAX_MEMORY_MIB);
  });

  test("A node withstands peers that send endless headers.", async () => {
    let shown = 0;
    const liar = await lieWith((common) => ({
      head: madeUp(world.network, { ...common, height: 999_999, id: UNKNOWN }, unknown),
      headersAfter(height) {
        shown++;
        const below = height === 1 ? common : { ...common, height, id: UNKNOWN };
        const headers = [madeUp(world.network, below, unknown)];
        while (headers.length < 400) headers.push(madeUp(world.network, present(headers.at(-1)), unknown));
        return headers;
      },
    }));
    await expect.poll(() => requestedFrom(liar), POLL).toContain("p2p.peer.getBlocks");
    const most = await forgesMeanwhile(4, () => call(liar));
    expect(shown).toBeLessThan(100);
    expect(await peersOfNode()).toEqual([]);
    expect(most).toBeLessThan(MAX_MEMORY_MIB);
  });
});
