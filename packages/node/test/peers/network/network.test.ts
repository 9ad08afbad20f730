/** Several nodes at loopback addresses forge one chain despite faults of some of them. */
import { join } from "node:path";
import { builders, transactionToJson } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seal } from "../../../src/dev-chain/network.ts";
import { connectPeer } from "../../../src/peers/transport/connection.ts";
import { present } from "../../../src/platform/present.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { SlotStore } from "../../../src/store/node/slots.ts";
import { addressOf, createWorld, type TestNode, type World } from "../../../test-support/peers/world.ts";
import {
  replyOf,
  startTimeServer,
  type TimeServerOfTest,
} from "../../../test-support/platform/time-server.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";

const NODES = 4;
const HOUR_MS = 3_600_000;
const POLL = { interval: 250 };

let world: World;
let nodes: TestNode[];
let clock: TimeServerOfTest;
let nonce = 0n;

type BlockRow = { id: string; height: number; generator: { publicKey: string } };

const heights = () => Promise.all(nodes.map((node) => node.height()));
const reach = (height: number) =>
  expect.poll(async () => Math.min(...(await heights())), POLL).toBeGreaterThanOrEqual(height);
/** Waits until every node is some blocks above the current highest head. */
const advance = async (blocks: number) => reach(Math.max(...(await heights())) + blocks);
const idAt = (node: TestNode, height: number) => node.get<BlockRow>(`/blocks/${height}`).then(({ id }) => id);

/** Posts a transfer to a node. */
async function pay(node: TestNode): Promise<void> {
  const { rich, network, delegates } = world;
  const body = builders.transfer({
    network,
    senderPublicKey: rich.publicKey,
    nonce: ++nonce,
    recipientId: present(delegates[0]).address,
    amount: 1_000n,
  });
  const response = await fetch(`${node.url}/api/transactions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ transactions: [transactionToJson(seal(body, rich).data)] }),
  });
  expect(await response.json()).toMatchObject({ data: { invalid: [] } });
}

/** Checks that all nodes have the same chain and the same balances, up to the lowest head. */
async function expectAgreement(): Promise<void> {
  const common = Math.min(...(await heights())) - 1;
  await expect
    .poll(async () => new Set(await Promise.all(nodes.map((node) => idAt(node, common)))).size, POLL)
    .toBe(1);
}

beforeAll(async () => {
  world = await createWorld({ nodes: NODES, blocktime: 2 });
  clock = await startTimeServer((request) => [replyOf(request, Date.now() + HOUR_MS)]);
  nodes = await Promise.all(
    Array.from({ length: NODES }, (_, index) => world.start(index, "--time-servers", clock.server)),
  );
});
afterAll(async () => {
  await world?.close();
  clock?.close();
});

describe("a network of nodes", () => {
  test("A network of nodes discovers all nodes and forges one chain.", async () => {
    await expect
      .poll(() => Promise.all(nodes.map(async (node) => (await node.get<unknown[]>("/peers")).length)), POLL)
      .toEqual(nodes.map(() => NODES - 1));
    await reach(4);
    await expectAgreement();
  });

  test("A network of nodes emits events for its peers.", async () => {
    const peers = () => present(nodes[0]).get<{ port: number; version: string }[]>("/peers");
    await expect
      .poll(peers, POLL)
      .toMatchObject(Array(NODES - 1).fill({ port: world.port, version: "5.7.2" }));
  });

  test("A node of a network announces the actual port of its API if it chose a free one.", async () => {
    const stranger = { address: addressOf(0), port: world.port, localAddress: "127.0.0.99" };
    const connection = await connectPeer(stranger);
    const limits = { timeoutMs: WAIT_MS, maxBytes: 100_000 };
    const { result } = await connection.call("p2p.peer.getStatus", {}, limits);
    connection.close();
    const port = Number(new URL(present(nodes[0]).url).port);
    expect(result).toMatchObject({
      config: { plugins: { "@arkecosystem/core-api": { enabled: true, port } } },
    });
  });

  test("A node of a network warns that its clock differs from that of a time server, and continues.", async () => {
    await expect
      .poll(() => present(nodes[0]).process.stderr(), POLL)
      .toMatch(/"level":"warn".*"offsetMs":3[56]\d{5}.*"clock compared with a time server"/);
  });

  test("A network of nodes forges transactions that were posted to any of them.", async () => {
    for (const node of nodes) {
      await pay(node);
      // The next one goes to another node, which must have received this one.
      const next = present(nodes[(node.index + 1) % NODES]);
      await expect
        .poll(async () => (await next.get<unknown[]>("/transactions/unconfirmed")).length, POLL)
        .toBeLessThan(2);
      await expect
        .poll(async () => (await next.get<{ nonce: string }>(`/wallets/${world.rich.address}`)).nonce, POLL)
        .toBe(String(nonce));
    }
  });

  test("A network of nodes continues without a killed node, which catches up after its restart.", async () => {
    const victim = present(nodes.pop());
    await victim.stop("SIGKILL");
    await advance(3);
    nodes.push(await world.start(victim.index));
    await advance(2);
    await expectAgreement();
  });

  test("A network of nodes continues without a paused node, which catches up when it resumes.", async () => {
    const { child } = present(nodes[1]).process;
    const others = nodes.filter(({ index }) => index !== 1);
    child.kill("SIGSTOP");
    const before = await present(others[0]).height();
    await expect.poll(() => present(others[0]).height(), POLL).toBeGreaterThanOrEqual(before + 4);
    child.kill("SIGCONT");
    await advance(2);
    await expectAgreement();
  });

  test("A network of nodes lets a node without delegates synchronise from the genesis block.", async () => {
    const follower = await world.start(NODES);
    nodes.push(follower);
    await advance(2);
    await expectAgreement();
    await expect.poll(() => follower.get("/node/syncing"), POLL).toMatchObject({ syncing: false });
  });

  test("A network of nodes forged no slot twice, and recorded why slots were missed.", async () => {
    const rows = await present(nodes[0]).get<(BlockRow & { timestamp: { epoch: number } })[]>(
      "/blocks?limit=100",
    );
    const slots = rows.map(({ timestamp }) => timestamp.epoch);
    expect(new Set(slots).size).toBe(slots.length);
    for (const node of nodes.splice(0)) {
      await node.stop();
      const database = openDatabase(join(world.folder, `node-${node.index}`, "node.sqlite"), {
        readonly: true,
      });
      for (const { reason } of new SlotStore(database).missed(100)) expect(reason).not.toBe("");
      database.close();
    }
  });
});
