/** Single values that describe the database as a whole. */
import type { Database } from "./database.ts";

/** `nethash`: the network whose chain this is. `webhookToken`: the secret made at the first start. */
export type MetaKey = "nethash" | "webhookToken";

export type MetaStore = {
  read(key: MetaKey): string | undefined;
  write(key: MetaKey, value: string): void;
};

export function createMetaStore(database: Database): MetaStore {
  const select = database.prepare<{ value: string }>("SELECT value FROM meta WHERE key = ?");
  const write = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  return {
    read: (key) => select.get(key)?.value,
    write: (key, value) => void write.run(key, value),
  };
}
