/** Failures of a mirror, its node and its database: the result is right, or an error says what to do, and recovery is automatic. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHead } from "../../src/mirror/head.ts";
import { present } from "../../src/platform/present.ts";
import { type MirroredDevChain, startMirroredDevChain } from "../../test-support/mirror/dev-chain.ts";
import { runKills } from "../../test-support/mirror/kills.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { mountSmallDisk, type SmallDisk } from "../../test-support/postgres/small-disk.ts";
import type { Running } from "../../test-support/process/uniknode.ts";

/** Enough for an empty server with its log. */
const DISK_MB = 200;

describe.skipIf(!hasPostgres)("a mirror", () => {
  let chain: MirroredDevChain;
  let mirror: Running;
  let disk: SmallDisk | undefined;
  beforeAll(async () => {
    disk = mountSmallDisk(DISK_MB);
    // Commits reach the disk so late that a crash of the server loses some.
    chain = await startMirroredDevChain({
      settings: { wal_writer_delay: "10s" },
      parent: disk?.path,
    });
  });
  afterAll(async () => {
    await chain?.closeAll();
    disk?.remove();
  });

  /** The long run: `npm run faults -- cluster --only "mirror killed"`. */
  test("A mirror that is killed at random moments while blocks come and go has the rows of the node.", async () => {
    const options = { kills: 3, seed: 20_261_125, maxLifeMs: 1_500, comparedEvery: 3 };
    await runKills(chain, { ...options, log: () => {} });
    mirror = chain.startMirror();
    await chain.followed();
  });

  test("A mirror fetches the commits again that a crash of the database has lost.", async () => {
    await chain.followed();
    // Commits with events wait for the disk.
    await chain.recordEvents([]);
    let isLost = false;
    // The server may write its log just before the crash.
    for (let attempt = 0; attempt < 5 && !isLost; attempt++) {
      // The crash then loses only what follows.
      await chain.postgres.query("CHECKPOINT");
      await chain.command("mine", { blocks: 20 });
      await chain.followed();
      const before = present(await readHead(chain.postgres)).height;
      mirror.child.kill("SIGSTOP");
      await chain.server.crash();
      isLost = present(await readHead(chain.postgres)).height < before;
      mirror.child.kill("SIGCONT");
    }
    expect(isLost).toBe(true);
    await chain.followed();
    await chain.compare();
  });

  test("A mirror waits while no connection to the database is free, and continues afterwards.", async () => {
    const { postgres } = chain;
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    await postgres.query("CREATE ROLE limited LOGIN CONNECTION LIMIT 0");
    await postgres.query("ALTER DATABASE chain OWNER TO limited");
    await postgres.query("GRANT ALL ON ALL TABLES IN SCHEMA public TO limited");
    const url = chain.databaseUrl.replace(/\/\/\w+@/, "//limited@");
    mirror = chain.startMirror("--database-url", url);
    await expect.poll(mirror.stderr).toContain("too many connections for role");
    await postgres.query("ALTER ROLE limited CONNECTION LIMIT -1");
    // The mirror writes this block after it has connected; the others were written before.
    await chain.command("mine", { blocks: 1 });
    await chain.followed();

    await postgres.query("ALTER ROLE limited CONNECTION LIMIT 0");
    await postgres.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'");
    await expect.poll(mirror.stderr).toContain("failed to follow the node; retrying");
    await chain.command("mine", { blocks: 5 });
    await postgres.query("ALTER ROLE limited CONNECTION LIMIT -1");
    await chain.followed();
    await chain.compare();
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    await postgres.query("ALTER DATABASE chain OWNER TO uniknode");
  });

  test("A mirror continues when a full disk of the database has space again.", async ({ skip }) => {
    if (!disk) return skip("this process may not mount a small file system");
    mirror = chain.startMirror();
    await chain.followed();
    const free = disk.fill();
    await chain.command("mine", { blocks: 60 });
    await expect.poll(mirror.stderr).toContain("No space left on device");
    await expect.poll(mirror.stderr).toContain("failed to follow the node; retrying");
    free();
    await chain.followed();
    await chain.compare();
    mirror.child.kill("SIGTERM");
    await mirror.ended;
  });

  test("A mirror with an older schema is upgraded when it starts.", async () => {
    await chain.postgres.query("DROP TABLE facts");
    await chain.postgres.query("DELETE FROM migrations WHERE name LIKE '003-%'");
    mirror = chain.startMirror();
    await chain.command("mine", { blocks: 3 });
    await chain.followed();
    await chain.compare();
    mirror.child.kill("SIGTERM");
    await mirror.ended;
  });

  test("A mirror refuses a newer schema, and the database of another network.", async () => {
    const { postgres } = chain;
    const failure = async () => {
      const { code, stderr } = await chain.startMirror().ended;
      return [code, stderr] as const;
    };
    await postgres.query("INSERT INTO migrations VALUES ('999-future.sql', 'x')");
    expect(await failure()).toEqual([1, expect.stringContaining("newer version of the program")]);
    await postgres.query("DELETE FROM migrations WHERE name = '999-future.sql'");

    await postgres.query("UPDATE head SET nethash = 'other'");
    await postgres.query("DELETE FROM migrations WHERE name LIKE '010-%'");
    expect(await failure()).toEqual([
      1,
      expect.stringContaining("the chain of another network (nethash other)"),
    ]);
    // The schema of the other network stays as it was.
    expect(await postgres.query("SELECT 1 FROM migrations WHERE name LIKE '010-%'")).toEqual([]);
  });
});
