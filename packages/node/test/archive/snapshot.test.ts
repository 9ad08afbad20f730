import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { dalinet } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ArchiveError } from "../../src/archive/archive-error.ts";
import { buildFacts, readFacts } from "../../src/archive/facts.ts";
import { DATABASE_FILE, type Manifest } from "../../src/archive/manifest.ts";
import { restoreSnapshot } from "../../src/archive/restore.ts";
import { createChainSnapshot, verifySnapshot } from "../../src/archive/snapshot.ts";
import { finalHeight } from "../../src/facts/final.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { lockDataFolder } from "../../src/store/engine/folder-lock.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { type Archived, alter, archiveFixture, WEBHOOK_TOKEN } from "../../test-support/archive/fixture.ts";
import { dumpOf, OTHER_VOTES, openChain } from "../../test-support/chain/fixtures.ts";

let archived: Archived;
let names = 0;
/** Path of a file that does not exist. */
const newPath = () => join(archived.folder, String(names++));

beforeAll(async () => {
  archived = await archiveFixture("chain-1");
});
afterAll(() => archived.remove());

const create = (data = archived.data, output = newPath()) =>
  createChainSnapshot({ data, output, program: "test", nowMs: Date.now, onProgress: () => {} });

async function snapshotOf(data: string): Promise<string> {
  const output = newPath();
  await create(data, output);
  return output;
}

/** Snapshot of the chain after a statement has changed its database. */
async function alteredSnapshot(sql: string): Promise<string> {
  const data = newPath();
  cpSync(archived.data, data, { recursive: true });
  alter(data, sql);
  return snapshotOf(data);
}

async function restored(snapshot: string): Promise<string> {
  const data = newPath();
  await restoreSnapshot(snapshot, data, archived.deps);
  return data;
}

const verify = (snapshot: string, isExecuted = false, deps = archived.deps) =>
  verifySnapshot(snapshot, { scratch: newPath(), isExecuted }, deps);

const dump = (data: string) => {
  const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
  const rows = dumpOf(database).filter((row) => !row.startsWith("meta webhookToken"));
  database.close();
  return rows;
};

describe("a snapshot", () => {
  test("A snapshot describes the chain.", async () => {
    const manifest = await create();
    expect(manifest.head.height).toBe(archived.height);
    expect(manifest.nethash).toBe(archived.deps.network.description.nethash);
  });

  test("A snapshot consists of two files.", async () => {
    expect(readdirSync(await snapshotOf(archived.data)).sort()).toEqual([DATABASE_FILE, "manifest.json"]);
  });

  test("A snapshot restores the same chain, which can be reverted and extended as far.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const data = newPath();
    await restoreSnapshot(snapshot, data, archived.deps);
    expect(dump(data)).toEqual(dump(archived.data));
    const { chain, close } = openChain(archived.content, join(data, "node.sqlite"));
    await chain.revertTo(2);
    expect(chain.head().height).toBe(2);
    await close();
  });

  test("A snapshot leaves only the chain in the data folder.", async () => {
    const data = newPath();
    await restoreSnapshot(await snapshotOf(archived.data), data, archived.deps);
    expect(readdirSync(data).sort()).toEqual(["lock.sqlite", "node.sqlite"]);
  });

  test("A snapshot contains nothing that belongs to the node alone.", async () => {
    const data = newPath();
    cpSync(archived.data, data, { recursive: true });
    alter(data, `INSERT INTO forged_slots VALUES ('a-public-key-of-ours', 7, 'block')`);
    const snapshot = await snapshotOf(data);
    const bytes = zstdDecompressSync(readFileSync(join(snapshot, DATABASE_FILE))).toString("latin1");
    expect(readFileSync(join(data, "node.sqlite"), "latin1")).toContain(WEBHOOK_TOKEN);
    expect(bytes).not.toContain(WEBHOOK_TOKEN);
    expect(bytes).not.toContain("a-public-key-of-ours");
    const unpacked = newPath();
    writeFileSync(unpacked, zstdDecompressSync(readFileSync(join(snapshot, DATABASE_FILE))));
    const database = openDatabase(unpacked, { readonly: true });
    expect(database.prepare("SELECT * FROM events").all()).toEqual([]);
    database.close();
  });

  test("A snapshot has the same state as that of any other node at this height.", async () => {
    const other = await archiveFixture("chain-1");
    const { state } = await create(other.data);
    expect((await create()).state).toBe(state);
    other.remove();
  });

  test("A snapshot has the root of the final facts, like any other node.", async () => {
    const other = await archiveFixture("chain-1");
    const { facts, head } = await create(other.data);
    expect(facts).toMatchObject({ height: finalHeight(head.height, archived.deps.network) });
    expect((await create()).facts).toEqual(facts);
    other.remove();
  });

  test("A snapshot of a node whose tree lags has the root up to there, and none of a tree without leaves.", async () => {
    const snapshot = await alteredSnapshot("DELETE FROM fact_tiles; DELETE FROM fact_sizes");
    const { facts } = JSON.parse(readFileSync(join(snapshot, "manifest.json"), "utf8")) as Manifest;
    expect(facts).toBeUndefined();
    const [data, own] = [await restored(snapshot), archived.data].map((folder) =>
      join(folder, "node.sqlite"),
    );
    expect(readFacts(present(data, "data"))).toEqual(readFacts(present(own, "own")));
  });

  test("A snapshot whose facts are not those of the manifest is refused.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const path = join(snapshot, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    const { size, root, height } = present(manifest.facts, "facts");
    for (const facts of [
      { root: "ab".repeat(32) },
      { size: size - 1 },
      { size: size + 1 },
      { height: height - 1 },
    ]) {
      writeFileSync(path, JSON.stringify({ ...manifest, facts: { ...manifest.facts, ...facts } }));
      await expect(verify(snapshot)).rejects.toMatchObject({ code: "ARCHIVE_INVALID" });
    }
    writeFileSync(path, JSON.stringify(manifest));
    expect((await verify(snapshot, true)).facts?.root).toBe(root);
  });

  test("A snapshot after a revert is valid: the tree of its node is higher than the final blocks.", async () => {
    const data = newPath();
    cpSync(archived.data, data, { recursive: true });
    const path = join(data, "node.sqlite");
    const { height } = present(readFacts(path), "facts");
    const { chain, close } = openChain(archived.content, path);
    await chain.revertTo(height + 2);
    await close();
    const snapshot = await snapshotOf(data);
    expect((await verify(snapshot, true)).facts?.height).toBe(height);
    const { content, deps } = archived;
    const restoredChain = openChain(content, join(await restored(snapshot), "node.sqlite"));
    expect(restoredChain.chain.head().height).toBe(height + 2);
    await restoredChain.close();

    const file = join(snapshot, "manifest.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    expect(height).toBeGreaterThan(finalHeight(manifest.head.height, deps.network));
    writeFileSync(file, JSON.stringify({ ...manifest, facts: { ...manifest.facts, id: "ab".repeat(32) } }));
    await expect(verify(snapshot)).rejects.toMatchObject({ code: "ARCHIVE_INVALID" });
  });

  test("A snapshot is created while a node writes.", async () => {
    const data = newPath();
    cpSync(archived.data, data, { recursive: true });
    const lock = lockDataFolder(data);
    const writer = openDatabase(join(data, "node.sqlite"));
    writer.execute("BEGIN IMMEDIATE; DELETE FROM wallets");
    const { head } = await create(data);
    writer.close();
    lock.release();
    expect(head.height).toBe(archived.height);
  });
});

describe("verification", () => {
  test.each(["chain-1", "chain-random-1", "chain-random-2"])(
    "The verification finds %s valid, and executes it.",
    async (name) => {
      const other = await archiveFixture(name);
      const snapshot = newPath();
      await create(other.data, snapshot);
      const { head } = await verify(snapshot, true, other.deps);
      expect(head.height).toBe(other.height);
      other.remove();
    },
  );

  const wrongChains: [what: string, sql: string, message: RegExp][] = [
    ["a missing block", "DELETE FROM blocks WHERE height = 50", /block 50: the block is missing/],
    [
      "a block under another id",
      "UPDATE blocks SET id = CAST(x'11' || substr(id, 2) AS BLOB) WHERE height = 9",
      /block 9: an id does not match the bytes of its block or transaction/,
    ],
    [
      "a transaction that is left out",
      "DELETE FROM transactions WHERE height = (SELECT max(height) FROM transactions)",
      /block \d+: .*/,
    ],
    [
      "an altered signature",
      `UPDATE blocks SET header = CAST(substr(header, 1, length(header) - 1) || x'00' AS BLOB) WHERE height = 7`,
      /block 7: /,
    ],
    [
      "rounds of other delegates",
      "UPDATE rounds SET delegates = (SELECT delegates FROM rounds WHERE round = 1) WHERE round = 2",
      /was not forged by the delegate of its slot/,
    ],
    ["made-up votes of a round", OTHER_VOTES, /the facts of its blocks do not match the manifest/],
    [
      "rounds that are missing",
      "DELETE FROM rounds WHERE round = 3",
      /the delegates of its round are unknown/,
    ],
  ];
  test.each(wrongChains)("The verification refuses %s.", async (_what, sql, message) => {
    const snapshot = await alteredSnapshot(sql);
    const refusal = await verify(snapshot).catch((error) => error);
    expect(refusal).toBeInstanceOf(ArchiveError);
    expect(refusal).toMatchObject({ code: "ARCHIVE_INVALID", message: expect.stringMatching(message) });
  });

  test("The verification finds an invented balance only by executing.", async () => {
    const snapshot = await alteredSnapshot(
      "UPDATE wallets SET balance = balance + 1 WHERE address = (SELECT max(address) FROM wallets)",
    );
    await expect(verify(snapshot)).resolves.toMatchObject({ head: { height: archived.height } });
    await expect(verify(snapshot, true)).rejects.toMatchObject({ code: "ARCHIVE_INVALID" });
  });

  test("The verification refuses another network.", async () => {
    const network = { ...archived.deps.network, description: dalinet.network };
    const snapshot = await snapshotOf(archived.data);
    const refusal = verify(snapshot, false, { ...archived.deps, network });
    await expect(refusal).rejects.toMatchObject({ code: "ARCHIVE_FOREIGN" });
  });
});

/** Snapshot created by hand by an attacker: its database is altered, and the manifest describes it. */
async function inventedSnapshot(alteration: (database: Database) => void): Promise<string> {
  const snapshot = await snapshotOf(archived.data);
  const [path, plain] = [join(snapshot, DATABASE_FILE), newPath()];
  writeFileSync(plain, zstdDecompressSync(readFileSync(path)));
  const database = openDatabase(plain);
  alteration(database);
  database.execute("PRAGMA journal_mode = DELETE");
  database.close();
  return seal(snapshot, readFileSync(plain));
}

function seal(snapshot: string, content: Buffer): string {
  writeFileSync(join(snapshot, DATABASE_FILE), zstdCompressSync(content));
  const path = join(snapshot, "manifest.json");
  const manifest: Manifest = JSON.parse(readFileSync(path, "utf8"));
  const sha256 = createHash("sha256").update(content).digest("hex");
  const described = { ...manifest.database, bytes: content.length, sha256 };
  writeFileSync(path, JSON.stringify({ ...manifest, database: described }));
  return snapshot;
}

describe("a snapshot of an attacker", () => {
  test("A snapshot of an attacker leaves no secret, webhook or pool of the attacker.", async () => {
    const snapshot = await inventedSnapshot((database) =>
      database.execute(`
        INSERT INTO meta VALUES ('webhookToken', 'known to a stranger');
        INSERT INTO pool (id, bytes) VALUES ('1', x'00');
        INSERT INTO forged_slots VALUES ('a', 1, 'b');
        UPDATE type_totals SET transactions = 7;
      `),
    );
    const data = newPath();
    await restoreSnapshot(snapshot, data, archived.deps);
    expect(dump(data)).toEqual(dump(await restored(await snapshotOf(archived.data))));
    const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
    expect(new MetaStore(database).read("webhookToken")).toBeUndefined();
    database.close();
  });

  test.each([
    ["a trigger", "CREATE TRIGGER mine AFTER INSERT ON blocks BEGIN DELETE FROM wallets; END"],
    ["a view in place of a table", "DROP TABLE payees; CREATE VIEW payees AS SELECT 1, 2, 3"],
    ["a table more", "CREATE TABLE mine (content BLOB)"],
  ])("A snapshot of an attacker with %s is refused, and leaves no files.", async (_what, sql) => {
    const snapshot = await inventedSnapshot((database) => database.execute(sql));
    const data = newPath();
    const restoring = restoreSnapshot(snapshot, data, archived.deps);
    await expect(restoring).rejects.toMatchObject({ code: "ARCHIVE_FOREIGN" });
    expect(readdirSync(data)).toEqual(["lock.sqlite"]);
  });

  test.each([
    ["is not a database", () => snapshotOf(archived.data).then((path) => seal(path, Buffer.from("nothing")))],
    [
      "has a broken one",
      () =>
        snapshotOf(archived.data).then((path) =>
          seal(path, zstdDecompressSync(readFileSync(join(path, DATABASE_FILE))).fill(0xff, 8192, 60_000)),
        ),
    ],
    ["has blocks cut short", () => inventedSnapshot((of) => of.execute("UPDATE blocks SET header = x'00'"))],
    ["has invalid rounds", () => inventedSnapshot((of) => of.execute("UPDATE rounds SET delegates = x'00'"))],
    [
      "has invalid wallets",
      () => inventedSnapshot((of) => of.execute("UPDATE wallets SET attributes = '{'")),
    ],
  ])("A snapshot of an attacker that %s is refused, and leaves no files.", async (_what, make) => {
    const data = newPath();
    const restoring = restoreSnapshot(await make(), data, archived.deps);
    await expect(restoring).rejects.toBeInstanceOf(ArchiveError);
    expect(readdirSync(data)).toEqual(["lock.sqlite"]);
  });

  test("A snapshot of an attacker that has other amounts than its blocks is found by executing.", async () => {
    const snapshot = await inventedSnapshot((database) =>
      database.execute("UPDATE transactions SET amount = amount + 1"),
    );
    await expect(verify(snapshot, true)).rejects.toMatchObject({ code: "ARCHIVE_INVALID" });
  });

  test("A snapshot of an attacker that would fill the disk is refused before anything is written.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const path = join(snapshot, "manifest.json");
    const manifest: Manifest = JSON.parse(readFileSync(path, "utf8"));
    const database = { ...manifest.database, bytes: 2 ** 60 };
    writeFileSync(path, JSON.stringify({ ...manifest, database }));
    const restoring = restoreSnapshot(snapshot, newPath(), archived.deps);
    await expect(restoring).rejects.toMatchObject({
      code: "ARCHIVE_TOO_LARGE",
      message: expect.stringMatching(/free some space, or choose another disk: .* --data, .* TMPDIR$/),
    });
  });
});

test.each(["checking blocks", "executing blocks"])(
  "A verification says where it needs space if the disk is full while %s.",
  async (full) => {
    const onProgress = (step: string) => {
      if (step === full) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    };
    const snapshot = await snapshotOf(archived.data);
    await expect(
      verifySnapshot(snapshot, { scratch: newPath(), isExecuted: true }, { ...archived.deps, onProgress }),
    ).rejects.toMatchObject({
      code: "ARCHIVE_TOO_LARGE",
      isRetryable: false,
      message: expect.stringMatching(/ is full; free some space, .* TMPDIR$/),
    });
  },
);

test("A snapshot that does not fit on its disk says which folder needs space.", async () => {
  const output = newPath();
  const onProgress = () => {
    throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  };
  const options = { data: archived.data, output, program: "test", nowMs: Date.now };
  const message = expect.stringMatching(`the disk of ${output} is full; free some space, .* --output, `);
  await expect(createChainSnapshot({ ...options, onProgress })).rejects.toMatchObject({
    code: "ARCHIVE_TOO_LARGE",
    message,
  });
});

test("The log of a restored tree of facts is in the database, whose close would ignore a full disk.", async () => {
  const manifest = await create();
  const path = join(await restored(await snapshotOf(archived.data)), "node.sqlite");
  // With another connection, the close does not copy the log.
  const other = openDatabase(path);
  other.execute("DELETE FROM fact_tiles; DELETE FROM fact_sizes");
  await buildFacts(path, manifest, archived.deps.network, () => {});
  const { total, copied } = other.logPages();
  other.close();
  expect(total).toBeGreaterThan(0);
  expect(copied).toBe(total);
});

test("A restore resumes after a kill.", async () => {
  const data = newPath();
  mkdirSync(data);
  for (const name of ["restored.sqlite", "restored.sqlite-journal", "restored.sqlite.unpacked"]) {
    writeFileSync(join(data, name), "half of something");
  }
  await restoreSnapshot(await snapshotOf(archived.data), data, archived.deps);
  expect(readdirSync(data).sort()).toEqual(["lock.sqlite", "node.sqlite"]);
});

describe("a damaged snapshot", () => {
  const damages: [what: string, code: string, damage: (folder: string) => void][] = [
    ["that is cut off", "ARCHIVE_DAMAGED", (folder) => rewrite(folder, (bytes) => bytes.subarray(0, -50))],
    [
      "with another byte",
      "ARCHIVE_DAMAGED",
      (folder) => rewrite(folder, (bytes) => bytes.fill(7, 5000, 5001)),
    ],
    ["that is no zstd", "ARCHIVE_DAMAGED", (folder) => rewrite(folder, () => Buffer.from("nothing"))],
    ["that is longer than it says", "ARCHIVE_DAMAGED", (folder) => describeAs(folder, { bytes: 4096 })],
    ["without its database", "ARCHIVE_MISSING", (folder) => describeAs(folder, {}, "elsewhere")],
    [
      "without a manifest",
      "ARCHIVE_MISSING",
      (folder) => mkdirSync(join(folder, "..", "none"), { recursive: true }),
    ],
    [
      "whose manifest is no JSON",
      "ARCHIVE_DAMAGED",
      (folder) => writeFileSync(join(folder, "manifest.json"), "{"),
    ],
    [
      "whose manifest lacks a member",
      "ARCHIVE_DAMAGED",
      (folder) => writeFileSync(join(folder, "manifest.json"), "{}"),
    ],
  ];
  const rewrite = (folder: string, change: (bytes: Buffer) => Buffer) => {
    const path = join(folder, DATABASE_FILE);
    writeFileSync(path, change(readFileSync(path)));
  };
  const describeAs = (folder: string, database: Partial<Manifest["database"]>, elsewhere = "") => {
    const path = join(folder, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...manifest, database: { ...manifest.database, ...database } }));
    if (elsewhere) writeFileSync(join(folder, DATABASE_FILE), "");
  };

  test.each(damages.slice(0, 4).concat(damages.slice(6)))(
    "%s is refused, and leaves no files",
    async (_what, code, damage) => {
      const snapshot = await snapshotOf(archived.data);
      damage(snapshot);
      const data = newPath();
      await expect(restoreSnapshot(snapshot, data, archived.deps)).rejects.toMatchObject({ code });
      if (existsSync(data)) expect(readdirSync(data)).toEqual(["lock.sqlite"]);
    },
  );

  test("A damaged snapshot is refused without a manifest.", async () => {
    await expect(verify(archived.data)).rejects.toMatchObject({ code: "ARCHIVE_MISSING" });
  });

  test("A snapshot is refused if its manifest leads to a device that never ends.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const path = join(snapshot, "manifest.json");
    rmSync(path);
    symlinkSync("/dev/zero", path);
    await expect(verify(snapshot)).rejects.toMatchObject({ code: "ARCHIVE_DAMAGED" });
  });

  test("A snapshot is refused if its database is a pipe, which never ends.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const path = join(snapshot, "chain.sqlite.zst");
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await expect(verify(snapshot)).rejects.toMatchObject({ code: "ARCHIVE_MISSING" });
  });

  test("A damaged snapshot is refused with the manifest of another.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const path = join(snapshot, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...manifest, state: "0".repeat(64) }));
    await expect(verify(snapshot)).rejects.toMatchObject({ code: "ARCHIVE_DAMAGED" });
  });
});

describe("an existing folder", () => {
  test("An existing folder is not overwritten by a snapshot.", async () => {
    await expect(create(archived.data, archived.folder)).rejects.toThrow("is not empty; choose another");
    expect(existsSync(archived.data)).toBe(true);
  });

  test("An existing folder is not overwritten by a restore.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const before = dump(archived.data);
    await expect(restoreSnapshot(snapshot, archived.data, archived.deps)).rejects.toMatchObject({
      code: "ARCHIVE_EXISTS",
    });
    expect(dump(archived.data)).toEqual(before);
  });

  test("An existing folder is unchanged while a node uses it.", async () => {
    const snapshot = await snapshotOf(archived.data);
    const lock = lockDataFolder(archived.data);
    await expect(restoreSnapshot(snapshot, archived.data, archived.deps)).rejects.toMatchObject({
      code: "DATA_IN_USE",
    });
    lock.release();
  });

  test("An existing folder is required for a snapshot.", async () => {
    const output = newPath();
    await expect(create(newPath(), output)).rejects.toMatchObject({ code: "ARCHIVE_MISSING" });
    expect(existsSync(output)).toBe(false);
  });
});

test("Signals are handled while the tree of facts is built.", async () => {
  const manifest = await create();
  const path = join(await restored(await snapshotOf(archived.data)), "node.sqlite");
  const database = openDatabase(path);
  database.execute("DELETE FROM fact_tiles; DELETE FROM fact_sizes");
  database.close();
  let isHandled = false;
  setImmediate(() => {
    isHandled = true;
  });
  // Each step is at its deadline at once.
  const now = vi.spyOn(performance, "now").mockReturnValue(Number.POSITIVE_INFINITY);
  const parts: boolean[] = [];
  try {
    await buildFacts(path, manifest, archived.deps.network, () => void parts.push(isHandled));
  } finally {
    now.mockRestore();
  }
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.at(-1)).toBe(true);
});
