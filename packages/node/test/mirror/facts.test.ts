/** The facts of a mirror are those of the node, and a row that influences them cannot differ unnoticed. */
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Growth } from "../../src/facts/growth.ts";
import { FactComparison, type FactMark } from "../../src/mirror/facts/tree.ts";
import { type FollowDeps, follow } from "../../src/mirror/follow.ts";
import type { FeedLine } from "../../src/mirror/line.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { changeRows } from "../../test-support/mirror/changed-rows.ts";
import { type MirroredChain, mirrorChain } from "../../test-support/mirror/mirrored-chain.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

type Mirrored = MirroredChain & {
  /** Follows until the first checkpoint has been compared, and returns the log. */
  follow(epoch?: number): Promise<string>;
};

/** Builds a mirror without facts, and completes the tree of its node. */
async function mirrored(name: string): Promise<Mirrored> {
  const chain = await mirrorChain(name, await databases.connect());
  const { postgres, node, network, built } = chain;
  const growth = new Growth({ database: node.database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  return {
    ...chain,
    async follow(epoch = built.epoch) {
      const lines: string[] = [];
      await follow({
        ...{ postgres, network, epoch, feed: untilCheckpoint(built.feed), undoDepth: 10_000 },
        signal: new AbortController().signal,
        onHead: () => {},
        onFacts: () => {},
        logger: pino({ level: "info" }, { write: (line) => lines.push(line) }),
      });
      return lines.join("");
    },
  };
}

function untilCheckpoint(feed: FollowDeps["feed"]): FollowDeps["feed"] {
  async function* until(lines: AsyncIterable<FeedLine>): AsyncIterable<FeedLine> {
    for await (const line of lines) {
      yield line;
      if ("checkpoint" in line) return;
    }
  }
  return { follow: (positions, signal) => until(feed.follow(positions, signal)) };
}

describe.skipIf(!hasPostgres)("the facts of a mirror", () => {
  let mirror: Mirrored;
  beforeAll(async () => {
    mirror = await mirrored("chain-random-1");
  });
  afterAll(() => mirror?.close());

  test("The facts of a mirror agree with those of the node.", async () => {
    expect(await mirror.follow()).toContain("the facts agree with those of the node");
  });

  describe("differ after a change of", () => {
    test.each([
      [
        "one byte of a header",
        "UPDATE blocks SET header = set_byte(header, 150, get_byte(header, 150) # 1) WHERE height = 7",
      ],
      ["the id of a block", "UPDATE blocks SET id = repeat('ab', 32) WHERE height = 8"],
      [
        "one byte of a transaction",
        `UPDATE transactions SET bytes = set_byte(bytes, length(bytes) - 1, get_byte(bytes, length(bytes) - 1) # 1)
         WHERE id = (SELECT min(id) FROM transactions WHERE height = 5)`,
      ],
      [
        "one digit of a vote",
        `UPDATE rounds SET record = regexp_replace(record, '("voteBalance":"\\d*)\\d"', '\\17"')`,
      ],
      [
        "the forger of a block",
        "UPDATE blocks SET generator = (SELECT generator FROM blocks WHERE height = 9) WHERE height <> 9",
      ],
      [
        "a transaction that is missing",
        "DELETE FROM transactions WHERE id = (SELECT max(id) FROM transactions WHERE height = 6)",
      ],
      ["owners of uniks", "UPDATE tokens SET owner = 'DUnknown'"],
    ])("%s", async (_, change) => {
      await using _restored = await changed(mirror.postgres, change);
      await expect(mirror.follow()).rejects.toMatchObject({
        code: "MIRROR_DIFFERS",
        message: expect.stringMatching(
          /the facts of the blocks up to \d+ differ: .* run "uniknode mirror --check"/,
        ),
      });
    });

    test.each([
      ["a block that is missing", "DELETE FROM blocks WHERE height = 7", "cannot read block 7"],
      [
        "a header that is not one",
        "UPDATE blocks SET header = '\\x0102' WHERE height = 8",
        "cannot read block 8",
      ],
      [
        "bytes that are not a transaction",
        "UPDATE transactions SET bytes = '\\xff' WHERE height = 5",
        "cannot read block 5",
      ],
    ])("%s", async (_, change, message) => {
      await using _restored = await changed(mirror.postgres, change);
      await expect(mirror.follow()).rejects.toMatchObject({
        code: "MIRROR_DIFFERS",
        message: expect.stringContaining(message),
      });
    });
  });

  test("The facts of a mirror are not written by a mirror that was replaced.", async () => {
    const { postgres, follow, built, close } = await mirrored("chain-1");
    await postgres.query("UPDATE head SET epoch = epoch + 1");
    await expect(follow()).rejects.toMatchObject({ code: "MIRROR_DEPOSED" });
    expect(await postgres.query("SELECT 1 FROM facts")).toEqual([]);
    await follow(built.epoch + 1);
    expect(await postgres.query("SELECT 1 FROM facts")).toHaveLength(1);
    await close();
  });
});

/** Changes rows, and empties the tree of facts. */
async function changed(postgres: Postgres, change: string): Promise<AsyncDisposable> {
  await postgres.query("DELETE FROM facts");
  return changeRows(postgres, change);
}

const markAt = (height: number): FactMark => ({
  ...{ height, id: `id ${height}`, size: 2 * height },
  root: Buffer.alloc(32, height % 256),
});
const checkpointAt = (height: number) => {
  const { root, ...mark } = markAt(height);
  return { ...mark, version: 3 as const, root: Buffer.from(root).toString("hex") };
};

test("A checkpoint is compared with the mark of the same block, and ignored if the mirror has none.", () => {
  const lines: string[] = [];
  const comparison = new FactComparison(pino({ level: "info" }, { write: (line) => lines.push(line) }));
  comparison.add([1, 2, 3].map(markAt));
  comparison.compare(checkpointAt(2));
  comparison.compare(checkpointAt(3));
  expect(lines).toHaveLength(1);
  comparison.compare(checkpointAt(4));
  comparison.compare({ ...checkpointAt(2), id: "another branch", size: 7 });
  for (const other of [{ size: 5 }, { root: "0".repeat(64) }]) {
    expect(() => comparison.compare({ ...checkpointAt(2), ...other })).toThrow(
      "the facts of the blocks up to 2 differ",
    );
  }
  comparison.add(Array.from({ length: 1_000 }, (_, index) => markAt(4 + index)));
  comparison.compare({ ...checkpointAt(2), size: 5 });
  expect(() => comparison.compare({ ...checkpointAt(4), size: 5 })).toThrow("differ");
});
