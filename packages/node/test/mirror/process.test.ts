/** `uniknode mirror` with a dev chain: it has every row of the node, whatever happens to either of them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MirroredDevChain, startMirroredDevChain, TOKEN } from "../../test-support/mirror/dev-chain.ts";
import { startLyingFeed } from "../../test-support/mirror/lying-feed.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const FEED_BLOCKS = 100;

let chain: MirroredDevChain;
let mirror: Running;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain({ feedBlocks: FEED_BLOCKS });
  mirror = chain.startMirror();
});
afterAll(() => chain?.closeAll());

describe.skipIf(!hasPostgres)("a mirror of a dev chain", () => {
  test("A mirror of a dev chain is built, and follows every block.", async () => {
    await chain.followed();
    await chain.command("mine", { blocks: 30 });
    await chain.followed();
    await chain.compare();
  });

  test("A mirror of a dev chain follows reorganisations of any depth that the node can do.", async () => {
    for (const depth of [1, 7, 25]) {
      await chain.command("reorg", { depth });
      await chain.followed();
    }
    await chain.compare();
  });

  test("A mirror of a dev chain continues after a kill during a reorganisation.", async () => {
    mirror.child.kill("SIGKILL");
    await mirror.ended;
    await chain.command("reorg", { depth: 5 });
    await chain.command("mine", { blocks: 10 });
    mirror = chain.startMirror();
    await chain.followed();
    await chain.compare();
  });

  test("A mirror of a dev chain continues after the database was killed.", async () => {
    await chain.server.crash();
    await chain.command("mine", { blocks: 5 });
    await chain.followed();
    await chain.compare();
  });

  test("A mirror of a dev chain is replaced by another one with its name: it ends, and the other one follows.", async () => {
    const first = mirror;
    mirror = chain.startMirror();
    const { code, stderr } = await first.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('another mirror with the name "test"')]);
    await chain.command("mine", { blocks: 5 });
    await chain.followed();
    await chain.compare();
    expect(mirror.child.exitCode).toBeNull();
    expect(mirror.stderr()).not.toContain("another mirror");
  });

  test("A mirror of a dev chain is compared with the node by --check, which names a row that differs.", async () => {
    const check = () => chain.startMirror("--check").ended;
    const equal = await check();
    expect([equal.code, equal.stderr]).toEqual([0, ""]);
    expect(equal.stdout).toMatch(/wallets +\d+ +[0-9a-f]{16} +equal/);
    await chain.postgres.query("UPDATE blocks SET signature = 'f' || substr(signature, 2) WHERE height = 3");
    await chain.postgres.query("UPDATE blocks SET signature = '0' || substr(signature, 2) WHERE height = 4");
    const different = await check();
    expect([different.code, different.stderr]).toEqual([
      1,
      expect.stringContaining("blocks (2 rows, from 3 to 4)"),
    ]);
    // Signatures begin with 30.
    await chain.postgres.query(
      "UPDATE blocks SET signature = '3' || substr(signature, 2) WHERE height IN (3, 4)",
    );
  });

  test("A mirror of a dev chain is built again when the node no longer has the changes that it needs.", async () => {
    mirror.child.kill("SIGTERM");
    expect(await mirror.ended).toMatchObject({ code: 0 });
    await chain.command("mine", { blocks: FEED_BLOCKS + 20 });
    mirror = chain.startMirror();
    await chain.followed();
    await expect.poll(() => mirror.stdout() + mirror.stderr()).toContain("rebuilding the mirror");
    await chain.compare();
  });

  test("A mirror ends when its facts differ from those of the node, because the feed changed one digit of a vote.", async () => {
    let isLying = false;
    let lies = 0;
    const feed = await startLyingFeed(chain.url, (json) => {
      if (!isLying) return json;
      return json.replace(
        /("rounds","\d+",\{.*?"voteBalance":"\d*)(\d)"/,
        (_, start: string, digit: string) => {
          lies++;
          return `${start}${(Number(digit) + 1) % 10}"`;
        },
      );
    });
    const lied = await chain.server.createDatabase("lied");
    const args = ["--node", feed.url, "--token", TOKEN, "--database-url", lied, "--name", "lied"];
    const { ended, stderr } = spawnUniknode(["mirror", ...args]);
    await expect.poll(stderr).toContain("the facts agree with those of the node");
    isLying = true;
    // The votes of a round are final two rounds later.
    await chain.command("mine", { blocks: 80 });
    const { code } = await ended;
    expect(lies).toBeGreaterThan(0);
    expect(code).toBe(1);
    expect(stderr()).toMatch(/the facts of the blocks up to \d+ differ/);
    expect(stderr()).toContain("uniknode mirror --check");
    await feed.close();
    // It does not continue, even with a feed that is right.
    const again = await spawnUniknode(["mirror", ...args, "--node", chain.url]).ended;
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("with an empty database")]);
  });

  test("A mirror of a dev chain waits for a database that is down, until it is stopped.", async () => {
    const waiting = chain.startMirror("--database-url", "postgres://127.0.0.1:1/chain");
    await expect.poll(waiting.stderr).toContain("waiting for the database: check --database-url");
    waiting.child.kill("SIGTERM");
    expect(await waiting.ended).toMatchObject({ code: 0 });
  });

  test("A mirror of a dev chain names errors of token, node, options and database.", async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await spawnUniknode(["mirror", ...args]).ended;
      return [code, stderr] as const;
    };
    const database = ["--database-url", await chain.server.createDatabase("other")];
    expect(await run("--node", chain.url, "--token", TOKEN)).toEqual([
      2,
      expect.stringContaining("--database-url"),
    ]);
    expect(await run("--node", chain.url, ...database)).toEqual([2, expect.stringContaining("--token")]);
    expect(await run("--node", chain.url, "--token", "wrong", ...database)).toEqual([
      1,
      expect.stringContaining("uniknode token"),
    ]);
    expect(
      await run("--token", TOKEN, "--database-url", chain.databaseUrl.replace(/chain$/, "absent")),
    ).toEqual([1, expect.stringContaining("check --database-url")]);
    expect(await run("--token", TOKEN, "--database-url", "mysql://x")).toEqual([
      2,
      expect.stringContaining("postgres://"),
    ]);
  });
});
