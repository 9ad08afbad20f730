import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../../src/platform/coded-error.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { EncryptionError, SecretCipher } from "../../src/webhooks/secrets.ts";
import { encryptSecrets, type KeyFiles, webhookTokenOf } from "../../src/webhooks/sqlite/secrets.ts";
import { createWebhookStore } from "../../test-support/webhooks/sqlite-register.ts";
import {
  always,
  blockApplied,
  createService,
  createTestClock,
  databasePath,
  type Reply,
} from "../../test-support/webhooks/support.ts";

const FILES: KeyFiles = { webhookKeyFile: undefined, webhookOldKeyFile: undefined };
const TARGET = "https://receiver.example/hook";

function keyFile(content = `${crypto.randomUUID()}\n`): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "webhooks.key");
  writeFileSync(path, content);
  return path;
}

/** Data folder like that of a node, used between two starts of it. */
function dataFolder() {
  const path = databasePath();
  const warnings: string[] = [];
  const bytes = () =>
    [path, `${path}-wal`]
      .filter(existsSync)
      .map((file) => readFileSync(file, "latin1"))
      .join("");
  return {
    path,
    warnings,
    /** Returns true if a text occurs in one of the files. */
    holds: (text: string) => bytes().includes(text),
    /** Steps of a node's start before all other reads. */
    start(files: Partial<KeyFiles> = {}) {
      const database = openDatabase(path);
      onTestFinished(database.close);
      migrate(database);
      const key = encryptSecrets(database, { ...FILES, ...files }, (text) => warnings.push(text));
      return {
        database,
        key,
        store: createWebhookStore(database, new SecretCipher(key)),
        cipher: new SecretCipher(key),
      };
    },
    kept: (database: Database) =>
      database.prepare<{ token: string }>("SELECT token FROM webhooks ORDER BY id").all(),
  };
}

const fields = {
  event: "block.applied",
  events: [],
  target: TARGET,
  enabled: true,
  conditions: '[{"key":"id","condition":"ne","value":""}]',
  match: "any",
  order: "parallel",
  confirmations: 0,
  proof: false,
} as const;

const token = (digit: string) => digit.repeat(64);

describe("with a key", () => {
  test("No secret is readable in the database files with a key, and all survive a restart.", () => {
    const { start, holds } = dataFolder();
    const webhookKeyFile = keyFile();
    const first = start({ webhookKeyFile });
    const { id, secrets } = first.store.insert(fields, token("a"));
    expect(secrets).toEqual({ token: token("a") });
    first.store.rotate(id, token("b"), 1_000);
    const registerToken = webhookTokenOf(undefined, new MetaStore(first.database), first.cipher);
    // The files contain everything: the target, which is not a secret, is found.
    expect(holds(TARGET)).toBe(true);
    const secretTexts = [token("a"), token("b"), registerToken].map((text) => text.slice(0, 16));
    expect(secretTexts.map(holds)).toEqual([false, false, false]);
    first.database.close();
    expect(secretTexts.map(holds)).toEqual([false, false, false]);

    const second = start({ webhookKeyFile });
    expect(present(second.store.find(id)).secrets).toEqual({
      token: token("b"),
      previous: { token: token("a"), untilMs: 1_000 },
    });
    expect(webhookTokenOf(undefined, new MetaStore(second.database), second.cipher)).toBe(registerToken);
  });

  test("Deliveries, retries and replays are signed with the decrypted secret with a key.", async () => {
    const { path, start, holds } = dataFolder();
    const { database, cipher } = start({ webhookKeyFile: keyFile() });
    database.close();
    const clock = createTestClock();
    let reply: Reply = 500;
    const options = { path, clock, cipher, chain: [[blockApplied(1)]], reply: () => reply };
    const { webhooks, emit, calls } = createService(options);
    const { secrets } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    reply = 200;
    await clock.advance(5_000);
    await webhooks.replays.start("1", { fromHeight: 1, toHeight: 1 });
    await clock.advance(1_000);
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => secrets.token.slice(0, 32)),
    );
    expect(holds(secrets.token.slice(0, 32))).toBe(false);
  });

  test("Plain secrets are encrypted with a key, and leave no trace.", () => {
    const { start, holds, kept } = dataFolder();
    const plain = start();
    for (const digit of "abc") plain.store.insert(fields, token(digit));
    plain.store.rotate(1, token("d"), 1_000);
    const registerToken = webhookTokenOf(undefined, new MetaStore(plain.database), plain.cipher);
    const texts = [..."abcd"].map((digit) => digit.repeat(32));
    expect([...texts, registerToken].every(holds)).toBe(true);
    plain.database.close();

    const sealed = start({ webhookKeyFile: keyFile() });
    expect([...texts, registerToken].filter(holds)).toEqual([]);
    expect(kept(sealed.database).every(({ token }) => token.startsWith("sealed:"))).toBe(true);
    expect(sealed.store.page({ offset: 0, limit: 10 }).map(({ secrets }) => secrets.token)).toEqual([
      token("d"),
      token("b"),
      token("c"),
    ]);
    expect(webhookTokenOf(undefined, new MetaStore(sealed.database), sealed.cipher)).toBe(registerToken);
  });

  test("Plain secrets that another reader keeps in the write-ahead log cause a warning, and the next start removes them.", () => {
    const { start, path, holds, warnings } = dataFolder();
    const plain = start();
    plain.store.insert(fields, token("a"));
    const reader = openDatabase(path, { readonly: true });
    onTestFinished(reader.close);
    reader.execute("BEGIN; SELECT count(*) FROM webhooks");
    plain.database.execute("PRAGMA busy_timeout = 1");
    const files = { ...FILES, webhookKeyFile: keyFile() };
    encryptSecrets(plain.database, files, (text) => warnings.push(text));
    expect(holds("a".repeat(32))).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("restart the node")]);
    reader.execute("COMMIT");
    // Nor does a process keep them that was killed before it could remove them.
    start(files);
    expect(holds("a".repeat(32))).toBe(false);
    expect(warnings).toHaveLength(1);
  });
});

describe("a start is refused, and nothing changes,", () => {
  test.each([
    ["without the key", () => ({}), /are encrypted; name the file of their key with --webhook-key-file/],
    ["with another key", () => ({ webhookKeyFile: keyFile() }), /another key; name its file/],
    ["with another old key", () => ({ webhookOldKeyFile: keyFile() }), /another key; name its file/],
    [
      "with a missing file",
      () => ({ webhookKeyFile: "/nowhere/key" }),
      /key file of --webhook-key-file cannot be read/,
    ],
    ["with half a key", () => ({ webhookKeyFile: keyFile("short") }), /must have 32 characters or more/],
  ])("%s", (_case, files, message) => {
    const { start, kept } = dataFolder();
    const webhookKeyFile = keyFile();
    const first = start({ webhookKeyFile });
    first.store.insert(fields, token("a"));
    const before = kept(first.database);
    expect(() => start(files())).toThrow(ConfigError);
    expect(() => start(files())).toThrow(message);
    expect(kept(first.database)).toEqual(before);
    expect(present(start({ webhookKeyFile }).store.find(1)).secrets.token).toBe(token("a"));
  });

  test.each([
    ["changed", "UPDATE webhooks SET token = replace(token, 'sealed:', 'sealed:A') WHERE id = 2"],
    [
      "taken from another webhook",
      "UPDATE webhooks SET token = (SELECT token FROM webhooks WHERE id = 1) WHERE id = 2",
    ],
    ["put there by a stranger", `UPDATE webhooks SET token = '${token("e")}' WHERE id = 2`],
  ])("A start is refused, and nothing changes, if a secret was %s.", (_case, sql) => {
    const { start } = dataFolder();
    const webhookKeyFile = keyFile();
    const { database, store } = start({ webhookKeyFile });
    store.insert(fields, token("a"));
    store.insert(fields, token("b"));
    database.execute(sql);
    expect(() => start({ webhookKeyFile })).toThrow(EncryptionError);
    expect(() => start({ webhookKeyFile })).toThrow(
      /the secret of webhook 2 was changed outside of the node/,
    );
  });
});

describe("the key", () => {
  test("The key is changed by one start with both keys, and by any later one.", () => {
    const { start, kept } = dataFolder();
    const [old, other] = [keyFile(), keyFile()];
    const first = start({ webhookKeyFile: old });
    first.store.insert(fields, token("a"));
    const before = kept(first.database);
    const both = { webhookKeyFile: other, webhookOldKeyFile: old };
    const second = start(both);
    const after = kept(second.database);
    expect(after).not.toEqual(before);
    expect(present(start(both).store.find(1)).secrets.token).toBe(token("a"));
    expect(present(start({ webhookKeyFile: other }).store.find(1)).secrets.token).toBe(token("a"));
    expect(kept(second.database)).toEqual(after);
    expect(() => start({ webhookKeyFile: old })).toThrow(ConfigError);
  });

  test("The key is removed by a start that has the old one only.", () => {
    const { start, kept } = dataFolder();
    const old = keyFile();
    start({ webhookKeyFile: old }).store.insert(fields, token("a"));
    const { key, database } = start({ webhookOldKeyFile: old });
    expect(key).toBeUndefined();
    expect(kept(database)).toEqual([{ token: token("a") }]);
    expect(present(start().store.find(1)).secrets.token).toBe(token("a"));
  });
});
