/** Encrypts the secrets in the database with the operator's key (webhooks.md 10 point 14). */
import { ConfigError } from "../../../platform/config-error.ts";
import type { Database } from "../../../store/engine/database.ts";
import { createMetaStore, type MetaStore } from "../../../store/node/meta.ts";
import { createSalt, createSecretCipher, deriveKey, EncryptionError } from "./encryption.ts";
import { readKeyFile } from "./key-file.ts";
import { readSecrets, reencryptSecrets } from "./secrets.ts";

export type KeyFiles = {
  /** Key to encrypt secrets with; undefined: they are stored as plain text. */
  readonly webhookKeyFile: string | undefined;
  /** The previous key, while the key is changed or removed. */
  readonly webhookOldKeyFile: string | undefined;
};

/** Identifies the key of a data folder: its salt, and this text, encrypted. The row of `meta` is called `seal`. */
const CHECKED = "uniknode";

/**
 * Encrypts plain secrets, replaces the previous key, or decrypts the secrets, as the files require. Must be called before
 * anything else uses the database.
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
  const salt = createSalt();
  const key = content ? deriveKey(content, salt) : undefined;
  const cipher = createSecretCipher(key);
  // Old values must stay neither in pages nor in the write-ahead log.
  database.execute("PRAGMA secure_delete = ON");
  database.transaction(() => {
    reencryptSecrets(database, createSecretCipher(present?.key), cipher);
    if (key) meta.write("seal", `${salt} ${cipher.encrypt(CHECKED, CHECKED)}`);
    else meta.remove("seal");
  });
  database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA secure_delete = OFF");
  return key;
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
  const [salt, check] = kept.split(" ") as [string, string];
  for (const content of contents) {
    if (!content) continue;
    const key = deriveKey(content, salt);
    try {
      createSecretCipher(key).decrypt(check, CHECKED);
      return { content, key };
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
    }
  }
  throw new ConfigError(
    contents.some((content) => content)
      ? "the secrets of webhooks in this data folder are encrypted with another key; name its file with --webhook-key-file, or with --webhook-old-key-file to change the key"
      : "the secrets of webhooks in this data folder are encrypted; name the file of their key with --webhook-key-file (UNIKNODE_WEBHOOK_KEY_FILE), or with --webhook-old-key-file to open them",
  );
}
