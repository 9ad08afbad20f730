/** Brings the secrets in the database under the key that the operator names (webhooks.md 10 point 14). */
import { ConfigError } from "../../platform/config-error.ts";
import type { Database } from "../../store/engine/database.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { createSalt, createSeal, deriveKey, SealError } from "../../store/webhooks/encryption.ts";
import { openSecrets, reseal } from "../../store/webhooks/secrets.ts";
import { readKeyFile } from "./key-file.ts";

export type KeyFiles = {
  /** Key with which secrets are to be sealed; undefined: they are to lie open. */
  readonly webhookKeyFile: string | undefined;
  /** The one before, while the key is changed or given up. */
  readonly webhookOldKeyFile: string | undefined;
};

/** What the key of a data folder is known by: its salt, and this text, sealed. */
const CHECKED = "uniknode";

/**
 * Seals what lies open, under the key before, or under none any more, as the files say. To be called before anybody
 * else uses the database.
 *
 * @returns the key of every secret in the database; undefined: they lie open
 * @throws {ConfigError} when the key that the secrets are sealed with is not among the given ones
 * @throws {SealError} when a secret was changed by somebody without the key
 */
export function sealSecrets(
  database: Database,
  { webhookKeyFile, webhookOldKeyFile }: KeyFiles,
): Uint8Array | undefined {
  const content = webhookKeyFile && readKeyFile(webhookKeyFile, "--webhook-key-file");
  const oldContent = webhookOldKeyFile && readKeyFile(webhookOldKeyFile, "--webhook-old-key-file");
  const meta = createMetaStore(database);
  const kept = meta.read("seal");
  const present = kept === undefined ? undefined : presentKey(kept, [content, oldContent]);

  if (present?.content === content) {
    openSecrets(database, createSeal(present?.key));
    return present?.key;
  }
  const salt = createSalt();
  const key = content ? deriveKey(content, salt) : undefined;
  const seal = createSeal(key);
  // What is written over must stay neither in pages nor in the write-ahead log.
  database.execute("PRAGMA secure_delete = ON");
  database.transaction(() => {
    reseal(database, createSeal(present?.key), seal);
    if (key) meta.write("seal", `${salt} ${seal.close(CHECKED, CHECKED)}`);
    else meta.remove("seal");
  });
  database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA secure_delete = OFF");
  return key;
}

/** The one of the keys with which the data folder is sealed. */
function presentKey(kept: string, contents: readonly (string | undefined)[]) {
  const [salt, check] = kept.split(" ") as [string, string];
  for (const content of contents) {
    if (!content) continue;
    const key = deriveKey(content, salt);
    try {
      createSeal(key).open(check, CHECKED);
      return { content, key };
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
  }
  throw new ConfigError(
    contents.some((content) => content)
      ? "the secrets of webhooks in this data folder are sealed with another key; name its file with --webhook-key-file, or with --webhook-old-key-file to change the key"
      : "the secrets of webhooks in this data folder are sealed; name the file of their key with --webhook-key-file (UNIKNODE_WEBHOOK_KEY_FILE), or with --webhook-old-key-file to open them",
  );
}
