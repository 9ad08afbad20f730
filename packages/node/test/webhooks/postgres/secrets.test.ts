/** The key of the secrets in PostgreSQL, which all processes share. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../../../src/platform/coded-error.ts";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { openSecretCipher } from "../../../src/webhooks/postgres/secrets.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { EncryptionError, PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { WebhookRows } from "../../../src/webhooks/storage/webhook-list.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { FIELDS, NOW_MS, TOKEN } from "../queue-port/subject.ts";
import { createCommands, openDatabase } from "./open.ts";

const NEW = { fields: FIELDS, token: TOKEN };
const NEXT_TOKEN = "6".repeat(64);

function createKeyFile(content = `${crypto.randomUUID()}\n`): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "webhooks.key");
  writeFileSync(path, content);
  return path;
}

const tokens = async ({ query }: Postgres): Promise<string[]> =>
  (await query<{ tokens: string[] }>("SELECT ARRAY[token, previous_token] AS tokens FROM webhooks")).flatMap(
    ({ tokens }) => tokens.filter((token) => token !== null),
  );

describe.skipIf(!hasPostgres)("secrets in PostgreSQL", () => {
  const databases = useDatabases();

  test("Secrets in PostgreSQL are plain text without a key.", async () => {
    const postgres = await openDatabase(databases);
    expect(await openSecretCipher(postgres, undefined)).toBe(PLAIN_SECRETS);
    await createCommands(postgres).insert(NEW, 9);
    expect(await tokens(postgres)).toEqual([TOKEN]);
  });

  test("Secrets in PostgreSQL are encrypted with the key of the first process, and read by others with a copy of it.", async () => {
    const postgres = await openDatabase(databases);
    const content = `${crypto.randomUUID()}\n`;
    const ciphers = await Promise.all(
      [1, 2, 3].map(() => openSecretCipher(postgres, createKeyFile(content))),
    );
    const [first, second, third] = ciphers;
    const commands = createCommands(postgres, present(first));
    const { id } = await commands.insert(NEW, 9);
    await commands.activate(id);
    const rotated = present(await createCommands(postgres, present(second)).rotate(id, NEXT_TOKEN, NOW_MS));
    expect(rotated.secrets).toEqual({ token: NEXT_TOKEN, previous: { token: TOKEN, untilMs: NOW_MS } });
    expect(await new WebhookRows(new PostgresStore(postgres), present(third)).find(id)).toEqual(rotated);
    expect((await tokens(postgres)).map((token) => token.startsWith("sealed:"))).toEqual([true, true]);
  });

  test("Secrets in PostgreSQL that are plain text are encrypted by the first process with a key.", async () => {
    const postgres = await openDatabase(databases);
    const plain = createCommands(postgres);
    const ids = [(await plain.insert(NEW, 9)).id, (await plain.insert(NEW, 9)).id];
    for (const id of ids) await plain.activate(id);
    await plain.rotate(present(ids[0]), NEXT_TOKEN, NOW_MS);
    const cipher = await openSecretCipher(postgres, createKeyFile());
    expect((await tokens(postgres)).every((token) => token.startsWith("sealed:"))).toBe(true);
    const page = await new WebhookRows(new PostgresStore(postgres), cipher).page({ offset: 0, limit: 9 });
    expect(page.map(({ secrets }) => secrets)).toEqual([
      { token: NEXT_TOKEN, previous: { token: TOKEN, untilMs: NOW_MS } },
      { token: TOKEN },
    ]);
    // Processes that were started without the key add no plain secrets, and cannot read the others.
    await expect(plain.insert(NEW, 9)).rejects.toThrow(/are encrypted; start the process with the file/);
    await expect(plain.rotate(present(ids[0]), TOKEN, NOW_MS)).rejects.toThrow(ConfigError);
    await expect(
      new WebhookRows(new PostgresStore(postgres), PLAIN_SECRETS).find(present(ids[0])),
    ).rejects.toThrow(EncryptionError);
  });

  test.each([
    ["without the key", () => undefined, /are encrypted; start the process with the file of their key/],
    ["with another key", () => createKeyFile(), /another key; name its file with --webhook-key-file/],
    ["with a missing file", () => "/nowhere/key", /key file of --webhook-key-file cannot be read/],
    ["with half a key", () => createKeyFile("short"), /must have 32 characters or more/],
  ])("Secrets in PostgreSQL cannot be opened %s, and nothing changes.", async (_case, keyFile, message) => {
    const postgres = await openDatabase(databases);
    const key = createKeyFile();
    const cipher = await openSecretCipher(postgres, key);
    const commands = createCommands(postgres, cipher);
    const { id } = await commands.insert(NEW, 9);
    await commands.activate(id);
    const before = await tokens(postgres);
    const opened = openSecretCipher(postgres, keyFile());
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toThrow(ConfigError);
    expect(await tokens(postgres)).toEqual(before);
    const again = new WebhookRows(new PostgresStore(postgres), await openSecretCipher(postgres, key));
    expect(await again.find(id)).toMatchObject({ secrets: { token: TOKEN } });
  });

  test("Secrets in PostgreSQL of two first processes with different keys have the key of one of them.", async () => {
    const postgres = await openDatabase(databases);
    const opened = await Promise.allSettled([1, 2].map(() => openSecretCipher(postgres, createKeyFile())));
    expect(opened.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(opened.find(({ status }) => status === "rejected")).toMatchObject({
      reason: expect.any(ConfigError),
    });
  });
});
