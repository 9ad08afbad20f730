/**
 * Imports the webhooks of an old node into the register of a data folder whose node is not running. The old node stores them in
 * `webhooks.json` in its cache folder (webhooks.md W-03, W-05, 10 point 1).
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../platform/coded-error.ts";
import { parseJson } from "../../platform/json/lossless.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { lockDataFolder } from "../../store/engine/folder-lock.ts";
import { migrate } from "../../store/engine/migrations.ts";
import { invalid, type Readers, readMembers, readObject, required } from "../../subscriptions/fields.ts";
import { SubscriptionError } from "../../subscriptions/subscription-error.ts";
import { WebhookError } from "../error.ts";
import type { Webhook, WebhookFields } from "../model/webhook.ts";
import { FIELD_READERS } from "../register/fields.ts";
import { SecretCipher } from "../secrets.ts";
import { checkLimits, findAlias, insertWebhook, sizeOf } from "../storage/webhooks.ts";
import { OwnerStore } from "./hand-over/owner.ts";
import { encryptSecrets, type KeyFiles } from "./secrets.ts";
import { runNow, sqlOf } from "./sql.ts";

/** Maximum size of the file; larger than any valid register. */
const MAX_FILE_BYTES = 64 * 1_024 * 1_024;

type ImportOptions = KeyFiles & {
  readonly data: string;
  readonly webhookLimit: number;
};

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
export function importOldRegister(
  path: string,
  options: ImportOptions,
): { readonly alias: string; readonly webhook: Webhook }[] {
  const entries = readOldRegister(readFile(path), options.webhookLimit);
  const lock = lockDataFolder(options.data);
  const databasePath = join(options.data, "node.sqlite");
  const database = openDatabase(databasePath);
  try {
    migrate(database, databasePath);
    requireOwner(database);
    const cipher = new SecretCipher(encryptSecrets(database, options, (text) => process.emitWarning(text)));
    const sql = sqlOf(database);
    const unknown = entries.filter(({ alias }) => runNow(findAlias(sql, alias)) === undefined);
    checkLimits(
      runNow(sizeOf(sql)),
      unknown.map(({ fields }) => fields),
      options.webhookLimit,
    );
    return database.transaction(() =>
      unknown.map(({ alias, token, fields }) => {
        const webhook = runNow(insertWebhook(sql, cipher, fields, token));
        runNow(sql.change("INSERT INTO webhook_aliases VALUES ($1, $2)", [alias, webhook.id]));
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
  if (new OwnerStore(database).read().state === "node") return;
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

type OldWebhook = {
  /** Its UUID in the old node. */
  readonly alias: string;
  /** The first half of the token; the old node does not store the rest. */
  readonly token: string;
  readonly fields: WebhookFields;
};

const { event, target, enabled } = FIELD_READERS;

const READERS: Readers<{
  id: string;
  token: string;
  event: WebhookFields["event"];
  target: string;
  enabled: boolean;
  conditions: string;
}> = {
  id: text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID"),
  token: text(/^[0-9a-f]{32}([0-9a-f]{32})?$/, "32 or 64 hexadecimal digits in lower case"),
  event,
  target,
  enabled,
  conditions: readConditions,
};

/**
 * Reads the webhooks of a parsed register file, `{"webhooks": [...]}` or the list alone.
 *
 * @param webhookLimit maximum length of the list
 * @throws {SubscriptionError} naming every entry that cannot be imported, and why
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
function readOldRegister(content: unknown, webhookLimit: number): OldWebhook[] {
  const list = Array.isArray(content) ? content : readObject(content, "the register file").webhooks;
  if (!Array.isArray(list)) throw invalid('the register file must have a list "webhooks"');
  if (list.length > webhookLimit) {
    throw new WebhookError(
      "WEBHOOK_LIMIT",
      `the register file has more than ${webhookLimit} webhooks: see --webhook-limit`,
    );
  }
  const seen = new Set<string>();
  const problems: string[] = [];
  const entries = list.flatMap((item, index) => {
    try {
      const entry = readEntry(item);
      if (seen.has(entry.alias)) throw invalid('"id" is the id of a previous entry');
      seen.add(entry.alias);
      return entry;
    } catch (error) {
      if (!(error instanceof SubscriptionError)) throw error;
      problems.push(`webhook ${index + 1} of the file: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return entries;
}

function readEntry(item: unknown): OldWebhook {
  const given = readMembers(item, READERS);
  return {
    alias: required(given.id, "id"),
    token: required(given.token, "token"),
    fields: {
      event: required(given.event, "event"),
      events: [],
      target: required(given.target, "target"),
      enabled: given.enabled ?? true,
      conditions: required(given.conditions, "conditions"),
      match: "any",
      order: "parallel",
      confirmations: 0,
      proof: false,
    },
  };
}

/** The old node accepts an empty list, which is always true. */
function readConditions(value: unknown): string {
  return Array.isArray(value) && value.length === 0 ? "[]" : FIELD_READERS.conditions(value, "conditions");
}

function text(pattern: RegExp, what: string) {
  return (value: unknown, name: string): string => {
    if (typeof value === "string" && pattern.test(value)) return value;
    throw invalid(`"${name}" must be ${what}`);
  };
}
