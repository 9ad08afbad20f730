/** A mirror has the rows of its node after every block, across reverts, repetitions and interruptions. */
import assert from "node:assert";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { finalHeight } from "../../src/facts/final.ts";
import { Growth } from "../../src/facts/growth.ts";
import { edgeRoot } from "../../src/facts/merkle/tiles.ts";
import type { FactReader } from "../../src/facts/reader.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { DEFAULT_FEED_OPTIONS, Feed } from "../../src/feed/feed.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { bootstrap } from "../../src/mirror/bootstrap.ts";
import { catchUpFacts, readTree } from "../../src/mirror/facts/tree.ts";
import { follow } from "../../src/mirror/follow.ts";
import { type MirrorHead, readHead, takeLease } from "../../src/mirror/head.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import type { Database } from "../../src/store/engine/database.ts";
import {
  blocksOf,
  CHAINS,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { rootAt } from "../../test-support/facts/root-at.ts";
import { feedLogOf } from "../../test-support/feed/log.ts";
import { clientOf, type LocalClient } from "../../test-support/mirror/feed-client.ts";
import { followTo } from "../../test-support/mirror/following.ts";
import { mirrorTables, nodeTables } from "../../test-support/mirror/tables.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

let folder: ReturnType<typeof temporaryFolder>;
let postgres: Postgres;
let open: OpenChain | undefined;
let blocks: Uint8Array[];
let content: ReturnType<typeof readChain>;
let feed: Feed;

beforeEach(async () => {
  folder = temporaryFolder();
  postgres = await databases.connect();
  await migrate(postgres);
});
afterEach(async () => {
  await postgres.close();
  await open?.close();
  folder.remove();
});

async function startNode(name: string, upTo = Number.POSITIVE_INFINITY): Promise<OpenChain> {
  content = readChain(name);
  blocks = blocksOf(content);
  const path = `${folder.path}/node.sqlite`;
  const node = openChain(content, path, { feedBlocks: 10_000 });
  open = node;
  await node.chain.accept(blocks.slice(0, upTo));
  feed = new Feed(
    { ...DEFAULT_FEED_OPTIONS, heartbeatMs: 10 },
    {
      reader: new FeedReader(node.database),
      openState: () => openStateRows(path),
      facts: growing(node.database),
      ...feedLogOf(node.database),
    },
  );
  return node;
}

/** Reads the tree of the node, which is complete whenever it is read. */
function growing(database: Database): Pick<FactReader, "checkpoint"> {
  const network = createNetwork(content.network);
  const reader = new SqliteFactReader(database, network);
  const growth = new Growth({ database, network, onTruncated: () => {} });
  return {
    async checkpoint() {
      growth.reverted();
      while (growth.step(Number.POSITIVE_INFINITY));
      return reader.checkpoint();
    },
  };
}

const lease = async (owner = "mirror"): Promise<MirrorHead> => {
  const head = await takeLease(postgres, { nethash: content.network.network.nethash, owner });
  assert(head);
  return head;
};

const deps = (epoch: number, client: LocalClient) => ({
  postgres,
  epoch,
  feed: client,
  network: createNetwork(content.network),
  undoDepth: 10_000,
  signal: new AbortController().signal,
  onProgress: () => {},
  onHead: () => {},
  onFacts: () => {},
  logger: pino({ level: "silent" }),
});

/** Builds the mirror, and returns its epoch. */
async function build(client = clientOf(feed)): Promise<number> {
  const head = await lease();
  await bootstrap(head, deps(head.epoch, client));
  await catchUpFacts(deps(head.epoch, client));
  return head.epoch;
}

/** Follows the feed until the mirror has the head of the node. */
const catchUp = (epoch: number, node: OpenChain): Promise<void> =>
  followTo(node.chain.head().id, deps(epoch, clientOf(feed)));

async function expectEqualTables(node: OpenChain): Promise<void> {
  await expectEqualFacts(node);
  const mirrored = await mirrorTables(postgres);
  for (const [table, rows] of Object.entries(nodeTables(node.database))) {
    expect(mirrored[table], table).toEqual(rows);
  }
  const { height, id } = node.chain.head();
  expect(await readHead(postgres)).toMatchObject({ height, id, phase: "ready" });
}

/** Compares the trees of final facts, at the size of the mirror's tree. */
async function expectEqualFacts(node: OpenChain): Promise<void> {
  const network = createNetwork(content.network);
  await growing(node.database).checkpoint();
  const { height, edge } = await readTree(postgres.query);
  expect(height).toBeGreaterThanOrEqual(finalHeight(node.chain.head().height, network));
  expect(edge.size).toBeGreaterThanOrEqual(height);
  expect(rootAt(node.database, edge.size)).toEqual(Buffer.from(edgeRoot(edge)));
}

describe.skipIf(!hasPostgres)("a mirror", () => {
  test.each(CHAINS)("A mirror built from %s has the rows of the node.", async (name) => {
    const node = await startNode(name);
    await build();
    await expectEqualTables(node);
  });

  test.each(CHAINS)("A mirror that follows %s has the rows of the node after every part.", async (name) => {
    const node = await startNode(name, 3);
    const epoch = await build();
    for (let from = 3; from < blocks.length; from += 7) {
      await node.chain.accept(blocks.slice(from, from + 7));
      await catchUp(epoch, node);
    }
    await expectEqualTables(node);
  });

  test("A mirror reverts with the node, to the same rows.", async () => {
    const node = await startNode("chain-random-1", 3);
    const epoch = await build();
    await node.chain.accept(blocks.slice(3));
    await catchUp(epoch, node);
    await expectEqualTables(node);
    const top = node.chain.head().height;
    for (const depth of [1, 2, 5, top - 10]) {
      await node.chain.revertTo(top - depth);
      await catchUp(epoch, node);
      await expectEqualTables(node);
      await node.chain.accept(blocks.slice(top - depth - 1));
      await catchUp(epoch, node);
      await expectEqualTables(node);
    }
  });

  test("A mirror that was replaced by another one writes nothing more.", async () => {
    const node = await startNode("chain-1", 10);
    const epoch = await build();
    await postgres.query("UPDATE head SET lease_until = now() - interval '1 s'");
    const other = await lease("another mirror");
    expect(other.epoch).toBe(epoch + 1);
    await node.chain.accept(blocks.slice(10, 20));
    await expect(catchUp(epoch, node)).rejects.toMatchObject({ code: "MIRROR_DEPOSED", isRetryable: false });
    expect(await readHead(postgres)).toMatchObject({ height: 11 });
    await catchUp(other.epoch, node);
    await expectEqualTables(node);
  });

  test("A mirror waits while another one has the lease, and refuses the database of another network.", async () => {
    await startNode("chain-1", 1);
    await lease("one");
    expect(
      await takeLease(postgres, { nethash: content.network.network.nethash, owner: "two" }),
    ).toBeUndefined();
    await expect(takeLease(postgres, { nethash: "0".repeat(64), owner: "one" })).rejects.toMatchObject({
      code: "MIRROR_DATABASE",
    });
  });

  test("A mirror interrupted during its construction continues at its position.", async () => {
    const node = await startNode("chain-random-2");
    const full = clientOf(feed);
    const broken: LocalClient = {
      ...full,
      async *state(signal) {
        for await (const line of full.state(signal)) {
          yield line;
          if ("rows" in line) throw new Error("killed");
        }
      },
    };
    await expect(build(broken)).rejects.toThrow("killed");
    const head = await readHead(postgres);
    expect(head).toMatchObject({ height: node.chain.head().height, phase: "blocks" });
    await node.chain.revertTo(node.chain.head().height - 2);
    await build();
    await expectEqualTables(node);
  });

  test("A mirror does not store a block whose bytes are damaged, nor an incomplete state.", async () => {
    const node = await startNode("chain-1", 5);
    const epoch = await build();
    await node.chain.accept(blocks.slice(5, 8));
    const client = clientOf(feed);
    const damaged: LocalClient = {
      ...client,
      async *follow(positions, signal) {
        for await (const line of client.follow(positions, signal)) {
          const bytes = "block" in line ? Buffer.from(line.block, "base64") : undefined;
          assert(bytes && "block" in line);
          bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
          yield { ...line, block: bytes.toString("base64") };
        }
      },
    };
    await expect(follow(deps(epoch, damaged))).rejects.toMatchObject({
      code: "MIRROR_FEED_INVALID",
      isRetryable: true,
    });
    expect(await readHead(postgres)).toMatchObject({ height: 6 });
    await catchUp(epoch, node);
    await expectEqualTables(node);
  });
});
