/** Networks with several branches, with a delegate that double-forges, and with outdated versions. */
import { encodeBlock } from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectPeer } from "../../src/peers/transport/connection.ts";
import { present } from "../../src/platform/present.ts";
import { network, range, STRICTER_FROM } from "../../test-support/peers/chains.ts";
import { createNodes, type TestNode, type TestNodes } from "./nodes.ts";

const HOSTS = [2, 3, 4, 5, 6].map((last) => `127.0.0.${last}`);
/** The ping interval is longer than a test. */

let nodes: TestNodes;
beforeEach(async () => {
  nodes = await createNodes();
});
afterEach(() => nodes.close());

/** Connected nodes, all with the same first blocks. */
async function openTogether(count: number): Promise<TestNode[]> {
  const hosts = HOSTS.slice(0, count);
  const all = hosts.map((host) =>
    nodes.open(
      host,
      hosts.filter((other) => other !== host),
    ),
  );
  const [first, ...others] = all;
  const common = await present(first).world.forge(...range(1, 20));
  for (const { world } of others) await world.take(...common);
  return all;
}

const start = (all: readonly TestNode[]) => Promise.all(all.map(({ peers }) => peers.start()));
const headOf = ({ world }: TestNode) => world.chain.head().id;

describe("branches", () => {
  test("Branches of five nodes, all different, end in the highest one.", async () => {
    const all = await openTogether(5);
    const heights: number[][] = all.map(({ world }) => {
      const seen = [world.chain.head().height];
      world.chain.subscribe(({ head }) => seen.push(head.height));
      return seen;
    });
    for (const [index, { world }] of all.entries()) {
      const from = 100 + 100 * index;
      await world.forge(...range(from, from + 8 + 3 * index));
    }
    const best = headOf(present(all.at(-1)));
    await start(all);
    await expect.poll(() => new Set(all.map(headOf))).toEqual(new Set([best]));
    // The height of every node only increases, whatever branch it is on.
    for (const seen of heights) expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  test("Branches that fork at different heights end in the highest one.", async () => {
    const all = await openTogether(4);
    const [low, middle, high, highest] = all as [TestNode, TestNode, TestNode, TestNode];
    await low.world.forge(...range(100, 104));
    const shared = await middle.world.forge(...range(200, 209));
    for (const { world } of [high, highest]) await world.take(...shared);
    await middle.world.forge(...range(300, 302));
    await high.world.forge(...range(400, 408));
    await highest.world.forge(...range(500, 514));
    const best = headOf(highest);
    await start(all);
    await expect.poll(() => new Set(all.map(headOf))).toEqual(new Set([best]));
  });
});

describe("a delegate that forges twice in a slot", () => {
  const reports = ({ logged }: TestNode) =>
    logged.filter(({ msg }) => msg === "double forging: a delegate signed two blocks for one slot");

  /** Two nodes whose branches contain different blocks of one delegate for one slot. */
  async function openDoubled() {
    const [node, other] = [nodes.open("127.0.0.2", ["127.0.0.3"]), nodes.open("127.0.0.3", [])];
    const common = await node.world.forge(...range(1, 20));
    await other.world.take(...common.slice(0, -1));
    await other.world.forge(24);
    const [first] = await node.world.forge(200);
    const [second] = await other.world.forge(200);
    const { height, generatorPublicKey } = present(first).header;
    expect(present(second).header).toMatchObject({ height, generatorPublicKey });
    return { node, other, second: present(second), report: { height, generatorPublicKey } };
  }

  test("A delegate that forges twice in a slot is reported by a node that receives the second block.", async () => {
    const { node, second, report } = await openDoubled();
    await node.peers.start();
    const connection = await connectPeer({ address: node.host, port: nodes.port, localAddress: "127.0.0.8" });
    nodes.onClose(() => connection.close());
    const limits = { timeoutMs: 5_000, maxBytes: 100_000 };
    const posted = connection.call("p2p.peer.postBlock", { block: encodeBlock(second, network) }, limits);
    await expect(posted).rejects.toThrow(/cannot be chained/);
    await expect.poll(() => reports(node)).toMatchObject([report]);
  });

  test("A delegate that forges twice in a slot is reported by a node that switches from one branch to the other.", async () => {
    const { node, other, report } = await openDoubled();
    await other.world.forge(...range(201, 205));
    // It is a peer, with blocks to fetch, when the first round of the node begins.
    await other.peers.start();
    await node.peers.start();
    await expect.poll(() => headOf(node)).toBe(headOf(other));
    await expect.poll(() => reports(node)).toMatchObject([report]);
  });
});

test("A peer with a version that a milestone excludes is dropped at its height.", async () => {
  const node = nodes.open(present(HOSTS[0]), HOSTS.slice(1, 3));
  const [old, young] = [
    nodes.open(present(HOSTS[1]), [], { version: "5.5.0" }),
    nodes.open(present(HOSTS[2]), []),
  ];
  const all = [node, old, young];
  const blocks = await node.world.forge(...range(1, STRICTER_FROM - 3));
  for (const { world } of [old, young]) await world.take(...blocks);
  await start(all);
  const known = () =>
    node.peers
      .list()
      .map(({ ip }) => ip)
      .sort();
  await expect.poll(known).toEqual([old.host, young.host]);
  const [last, first] = await node.world.forge(STRICTER_FROM - 2, STRICTER_FROM - 1);
  expect(present(last).header.height).toBe(STRICTER_FROM - 1);
  expect(present(first).header.height).toBe(STRICTER_FROM);
  await expect.poll(known).toEqual([young.host]);
  expect(node.events).toContain(`removed ${old.host}`);
});
