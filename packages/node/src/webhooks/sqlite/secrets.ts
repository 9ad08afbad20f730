/** Secrets of webhooks and of the register as rows, which are encrypted if the operator has a key (webhooks.md 10 point 14). */

import { randomBytes } from "node:crypto";
import { ConfigError } from "../../platform/config-error.ts";
import type { Database } from "../../store/engine/database.ts";
import { createMetaStore, type MetaStore } from "../../store/node/meta.ts";
import {
  createKey,
  createSecretCipher,
  findKey,
  ownerOf,
  readKeyFile,
  type SecretCipher,
  type SecretRow,
  secretsFromRow,
} from "../secrets.ts";

/** Owner of the token of the register, for the cipher. */
const REGISTER = "the register of webhooks";

/**
 * Decrypts every secret of the database with one cipher and encrypts it with another, all or none.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted; nothing has changed
 */
function reencryptSecrets(database: Database, from: SecretCipher, to: SecretCipher): void {
  const write = database.prepare("UPDATE webhooks SET token = ?, previous_token = ? WHERE id = ?");
  const meta = createMetaStore(database);
  database.transaction(() => {
    const { webhooks, register } = readSecrets(database, from);
    for (const [webhook, { token, previous }] of webhooks) {
      const encrypt = (secret: string) => to.encrypt(secret, ownerOf(webhook));
      write.run(encrypt(token), previous === undefined ? null : encrypt(previous.token), webhook);
    }
    if (register !== undefined) meta.write("webhookToken", to.encrypt(register, REGISTER));
  });
}

/**
 * Reads all secrets of the database.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted
 */
function readSecrets(database: Database, cipher: SecretCipher) {
  const rows = database.prepare<SecretRow & { id: number }>(
    "SELECT id, token, previous_token, previous_until_ms FROM webhooks",
  );
  const kept = createMetaStore(database).read("webhookToken");
  return {
    webhooks: new Map(rows.all().map(({ id, ...row }) => [id, secretsFromRow(id, row, cipher)])),
    register: kept === undefined ? undefined : cipher.decrypt(kept, REGISTER),
  };
}

export type KeyFiles = {
  /** Key to encrypt secrets with; undefined: they are stored as plain text. */
  readonly webhookKeyFile: string | undefined;
  /** The previous key, while the key is changed or removed. */
  readonly webhookOldKeyFile: string | undefined;
};

/**
 * Encrypts plain secrets, replaces the previous key, or decrypts the secrets, as the files require. Must be called before
 * anything else uses the database. The row of `meta` with the check of the key is called `seal`.
 *
 * @returns the key of every secret in the database; undefined if they are plain text
 * @throws {ConfigError} if none of the given keys decrypts the secrets
 * @throws {EncryptionError} if a secret was changed without the key
 */
export function encryptSecrets(database: Database, files: KeyFiles): Uint8Array | undefined {
  const meta = createMetaStore(database);
  const { content, present } = openKeys(meta, files);

  if (present?.content === content) {
    readSecrets(database, createSecretCipher(present?.key));
    return present?.key;
  }
  const created = content ? createKey(content) : undefined;
  // Old values must stay neither in pages nor in the write-ahead log.
  database.execute("PRAGMA secure_delete = ON");
  database.transaction(() => {
    reencryptSecrets(database, createSecretCipher(present?.key), createSecretCipher(created?.key));
    if (created) meta.write("seal", created.check);
    else meta.remove("seal");
  });
  database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA secure_delete = OFF");
  return created?.key;
}

/**
 * Returns the key of the secrets in a database that another process may use; undefined if they are plain text.
 *
 * @throws {ConfigError} if none of the given keys decrypts the secrets
 */
export const readSecretKey = (database: Database, files: KeyFiles): Uint8Array | undefined =>
  openKeys(createMetaStore(database), files).present?.key;

/** Returns the content of the file of the key to use, and the key that currently encrypts the secrets. */
function openKeys(meta: MetaStore, { webhookKeyFile, webhookOldKeyFile }: KeyFiles) {
  const content = webhookKeyFile && readKeyFile(webhookKeyFile, "--webhook-key-file");
  const oldContent = webhookOldKeyFile && readKeyFile(webhookOldKeyFile, "--webhook-old-key-file");
  const kept = meta.read("seal");
  return { content, present: kept === undefined ? undefined : presentKey(kept, [content, oldContent]) };
}

/** Returns the key that encrypts the secrets of the data folder. */
function presentKey(kept: string, contents: readonly (string | undefined)[]) {
  const found = findKey(kept, contents);
  if (found) return found;
  throw new ConfigError(
    contents.some((content) => content)
      ? "the secrets of webhooks in this data folder are encrypted with another key; name its file with --webhook-key-file, or with --webhook-old-key-file to change the key"
      : "the secrets of webhooks in this data folder are encrypted; name the file of their key with --webhook-key-file (UNIKNODE_WEBHOOK_KEY_FILE), or with --webhook-old-key-file to open them",
  );
}

/** Returns the token that requests to the register require: the given one, or the one that was generated for this data folder. */
export function webhookTokenOf(given: string | undefined, meta: MetaStore, cipher: SecretCipher): string {
  if (given !== undefined) return given;
  const kept = keptWebhookToken(meta, cipher);
  if (kept !== undefined) return kept;
  const made = randomBytes(32).toString("hex");
  meta.write("webhookToken", cipher.encrypt(made, REGISTER));
  return made;
}

/** Returns the token that was generated for this data folder; undefined before the first start without a given token. */
export function keptWebhookToken(meta: MetaStore, cipher: SecretCipher): string | undefined {
  const kept = meta.read("webhookToken");
  return kept === undefined ? undefined : cipher.decrypt(kept, REGISTER);
}
