/** Single values that describe the database as a whole. */
import type { Database } from "../engine/database.ts";

/**
 * `nethash`: the network of the chain. `webhookToken`: the secret generated at the first start. `seal`:
 * identifies the key that encrypts secrets; absent if they are not encrypted. `unchecked`: the height of the
 * first block whose signatures were not checked, if any; `failedPin`: the last pin that was wrong (decision
 * 39); `webhookOwner`: the owner of the webhooks, absent before the first hand-over (decision 54); `webhookEpoch`: the epoch
 * of the last start of the webhook service.
 */
export type MetaKey =
  | "nethash"
  | "webhookToken"
  | "seal"
  | "unchecked"
  | "failedPin"
  | "webhookOwner"
  | "webhookEpoch";

export type MetaStore = {
  read(key: MetaKey): string | undefined;
  write(key: MetaKey, value: string): void;
  remove(key: MetaKey): void;
};

export function createMetaStore(database: Database): MetaStore {
  const select = database.prepare<{ value: string }>("SELECT value FROM meta WHERE key = ?");
  const write = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM meta WHERE key = ?");
  return {
    read: (key) => select.get(key)?.value,
    write: (key, value) => void write.run(key, value),
    remove: (key) => void remove.run(key),
  };
}
