/** Secrets of webhooks and of the register as rows, which are encrypted if the operator has a key (webhooks.md 10 point 14). */

import { ConfigError } from "../../platform/coded-error.ts";
import type { Database } from "../../store/engine/database.ts";
import { MetaStore } from "../../store/node/meta.ts";
import { createToken } from "../model/message.ts";
import { createKey, findKey, readKeyFile, SecretCipher } from "../secrets.ts";
import { readSecrets, reencryptSecrets } from "../storage/secrets.ts";
import { runNow, sqlOf } from "./sql.ts";

/** Owner of the token of the register, for the cipher. */
const REGISTER = "the register of webhooks";

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
 * @param warn called with the reason and the next step if previous values stay in the write-ahead log
 * @returns the key of every secret in the database; undefined if they are plain text
 * @throws {ConfigError} if none of the given keys decrypts the secrets
 * @throws {EncryptionError} if a secret was changed without the key
 */
export function encryptSecrets(
  database: Database,
  files: KeyFiles,
  warn: (text: string) => void,
): Uint8Array | undefined {
  const meta = new MetaStore(database);
  const { content, present } = openKeys(meta, files);

  const cipher = new SecretCipher(present?.key);
  const sql = sqlOf(database);
  const token = keptWebhookToken(meta, cipher);
  if (present?.content === content) {
    runNow(readSecrets(sql, cipher));
    // A process that was killed during the encryption has left the old values there.
    if (present && database.logPages().total > 0) truncateLog(database, warn);
    return present?.key;
  }
  const created = content ? createKey(content) : undefined;
  // Old values must stay neither in pages nor in the write-ahead log.
  database.execute("PRAGMA secure_delete = ON");
  database.transaction(() => {
    const next = new SecretCipher(created?.key);
    runNow(reencryptSecrets(sql, cipher, next));
    if (token !== undefined) meta.write("webhookToken", next.encrypt(token, REGISTER));
    if (created) meta.write("seal", created.check);
    else meta.remove("seal");
  });
  truncateLog(database, warn);
  database.execute("PRAGMA secure_delete = OFF");
  return created?.key;
}

function truncateLog(database: Database, warn: (text: string) => void): void {
  if (database.truncateLog()) return;
  warn(
    "the previous webhook secrets stay in node.sqlite-wal, because another program reads the database: end that program, then restart the node",
  );
}

/**
 * Returns the key of the secrets in a database that another process may use; undefined if they are plain text.
 *
 * @throws {ConfigError} if none of the given keys decrypts the secrets
 */
export const readSecretKey = (database: Database, files: KeyFiles): Uint8Array | undefined =>
  openKeys(new MetaStore(database), files).present?.key;

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
  const made = createToken();
  meta.write("webhookToken", cipher.encrypt(made, REGISTER));
  return made;
}

/** Returns the token that was generated for this data folder; undefined before the first start without a given token. */
export function keptWebhookToken(meta: MetaStore, cipher: SecretCipher): string | undefined {
  const kept = meta.read("webhookToken");
  return kept === undefined ? undefined : cipher.decrypt(kept, REGISTER);
}
