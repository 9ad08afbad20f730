/**
 * The key of the secrets in PostgreSQL, which all processes share: each has a copy of the key file. The check of the key is in
 * the register. Old rows and the write-ahead log of the server may contain secrets from before their encryption.
 */
import { ConfigError } from "../../platform/coded-error.ts";
import type { Postgres } from "../../postgres/connection.ts";
import { createKey, findKey, PLAIN_SECRETS, readKeyFile, SecretCipher } from "../secrets.ts";
import { bumpVersion } from "../storage/locks.ts";
import { reencryptSecrets } from "../storage/secrets.ts";
import type { Reads, Sql, Steps } from "../storage/sql.ts";
import { PostgresStore } from "./sql.ts";

/**
 * Returns the cipher of the secrets. The first process with a key encrypts plain secrets.
 *
 * @param keyFile path of the key file; undefined: secrets are plain text
 * @throws {ConfigError} if the file cannot be read, or its key is not that of the secrets
 */
export async function openSecretCipher(
  postgres: Postgres,
  keyFile: string | undefined,
): Promise<SecretCipher> {
  const content = keyFile === undefined ? undefined : readKeyFile(keyFile, "--webhook-key-file");
  const store = new PostgresStore(postgres);
  const check = await store.read((sql) => readCheck(sql));
  if (check !== null) return openCipher(check, content);
  return content === undefined ? PLAIN_SECRETS : store.write((sql) => encryptSecrets(sql, content));
}

/**
 * Checks that a cipher is still that of the secrets; must be called before a secret is written, in the same transaction.
 *
 * @throws {ConfigError} if another process has encrypted the secrets since this one was started
 */
export function* checkCipher(sql: Reads, cipher: SecretCipher): Steps<void> {
  const check = yield* readCheck(sql, "FOR SHARE");
  if (check !== null && cipher.isPlain) throw new ConfigError(ENCRYPTED);
}

const ENCRYPTED =
  "the secrets of webhooks in this database are encrypted; start the process with the file of their key: --webhook-key-file (UNIKNODE_WEBHOOK_KEY_FILE)";
const OTHER_KEY =
  "the secrets of webhooks in this database are encrypted with another key; name its file with --webhook-key-file";

function openCipher(check: string, content: string | undefined): SecretCipher {
  const found = findKey(check, [content]);
  if (!found) throw new ConfigError(content === undefined ? ENCRYPTED : OTHER_KEY);
  return new SecretCipher(found.key);
}

function* readCheck(sql: Reads, lock: "" | "FOR SHARE" = ""): Steps<string | null> {
  const row = yield* sql.row<{ key_check: string | null }>(`SELECT key_check FROM webhook_register ${lock}`);
  return row?.key_check ?? null;
}

/** Encrypts all secrets, unless another process has done so. */
function* encryptSecrets(sql: Sql, content: string): Steps<SecretCipher> {
  yield* bumpVersion(sql);
  const check = yield* readCheck(sql);
  if (check !== null) return openCipher(check, content);
  const created = createKey(content);
  const cipher = new SecretCipher(created.key);
  yield* reencryptSecrets(sql, PLAIN_SECRETS, cipher);
  yield* sql.change("UPDATE webhook_register SET key_check = $1", [created.check]);
  return cipher;
}
