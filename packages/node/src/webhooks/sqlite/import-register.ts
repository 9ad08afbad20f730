/** Imports the webhooks of an old node into the register of a data folder whose node is not running. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../platform/config-error.ts";
import { parseJson } from "../../platform/json/lossless.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { lockDataFolder } from "../../store/engine/folder-lock.ts";
import { migrate } from "../../store/engine/migrations.ts";
import type { Webhook } from "../model/webhook.ts";
import { checkLimits } from "../register/bounds.ts";
import { readOldRegister } from "../register/old-register.ts";
import { createSecretCipher } from "../secrets/encryption.ts";
import { createOwnerStore } from "./hand-over/owner.ts";
import { encryptSecrets, type KeyFiles } from "./secrets/encrypt-secrets.ts";
import { createWebhookAliases, createWebhookStore } from "./webhooks.ts";

/** Maximum size of the file; larger than any valid register. */
const MAX_FILE_BYTES = 64 * 1_024 * 1_024;

export type ImportOptions = KeyFiles & {
  readonly data: string;
  readonly webhookLimit: number;
};

export type ImportedWebhook = { readonly alias: string; readonly webhook: Webhook };

/**
 * Registers all webhooks of the file or none; they receive events from the next start on. Webhooks from an earlier import
 * are not changed.
 *
 * @returns the new webhooks
 * @throws {ConfigError} if the file cannot be read or the secrets of the data folder cannot be decrypted
 * @throws {SubscriptionError}
 * @throws {WebhookError} WEBHOOK_LIMIT
 * @throws {DataInUseError}
 */
export function importOldRegister(path: string, options: ImportOptions): ImportedWebhook[] {
  const entries = readOldRegister(readFile(path), options.webhookLimit);
  const lock = lockDataFolder(options.data);
  const databasePath = join(options.data, "node.sqlite");
  const database = openDatabase(databasePath);
  try {
    migrate(database, databasePath);
    requireOwner(database);
    const webhooks = createWebhookStore(database, createSecretCipher(encryptSecrets(database, options)));
    const aliases = createWebhookAliases(database);
    const unknown = entries.filter(({ alias }) => aliases.idOf(alias) === undefined);
    checkLimits(
      { count: webhooks.count(), conditionsBytes: webhooks.conditionsBytes() },
      unknown.map(({ fields }) => fields),
      options.webhookLimit,
    );
    return database.transaction(() =>
      unknown.map(({ alias, token, fields }) => {
        const webhook = webhooks.insert(fields, token);
        aliases.add(alias, webhook.id);
        return { alias, webhook };
      }),
    );
  } finally {
    database.close();
    lock.release();
  }
}

/** @throws {ConfigError} if the node does not own its webhooks: workers would not have the new ones */
function requireOwner(database: Database): void {
  if (createOwnerStore(database).read().state === "node") return;
  throw new ConfigError(
    "delivery workers own the webhooks of this node, or they are being handed over: hand them over to the node first, with uniknode webhooks hand-over --to node",
  );
}

/** Replaces the parser's message, which would quote the file with its secrets. */
const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;

function readFile(path: string): unknown {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return parseJson(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ConfigError(
      `the register file ${path} cannot be read: ${reasonOf(error)}; name the webhooks.json of the old node`,
    );
  }
}
