/** Single values that describe the database as a whole. */
import type { Database, Statement } from "../engine/database.ts";

/**
 * `nethash`: the network of the chain. `webhookToken`: the secret generated at the first start. `seal`:
 * identifies the key that encrypts secrets; absent if they are not encrypted. `unchecked`: the height of the
 * first block whose signatures were not checked, if any; `failedPin`: the last pin that was wrong (decision
 * 39); `webhookOwner`: the owner of the webhooks, absent before the first hand-over (decision 54); `webhookEpoch`: the epoch
 * of the last start of the webhook service; `eventLog`: the random id of the event log, which streams name in their positions.
 */
export type MetaKey =
  | "nethash"
  | "webhookToken"
  | "seal"
  | "unchecked"
  | "failedPin"
  | "webhookOwner"
  | "webhookEpoch"
  | "eventLog";

export class MetaStore {
  readonly #select: Statement<{ value: string }>;
  readonly #write: Statement<unknown>;
  readonly #remove: Statement<unknown>;

  constructor(database: Database) {
    this.#select = database.prepare("SELECT value FROM meta WHERE key = ?");
    this.#write = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
    this.#remove = database.prepare("DELETE FROM meta WHERE key = ?");
  }

  read(key: MetaKey): string | undefined {
    return this.#select.get(key)?.value;
  }

  write(key: MetaKey, value: string): void {
    this.#write.run(key, value);
  }

  remove(key: MetaKey): void {
    this.#remove.run(key);
  }
}

/** The mark of a chain that has blocks whose signatures were not checked (decision 39). */
export type UncheckedMark = {
  /** Height of the first unchecked block. */
  readonly from: number;
  /** `HEIGHT:ID` of the block that will verify them. */
  readonly pin: string;
};

/** Returns the mark; undefined if all blocks were checked, or verified by the pin. */
export function readUnchecked(meta: Pick<MetaStore, "read">): UncheckedMark | undefined {
  const stored = meta.read("unchecked");
  return stored === undefined ? undefined : (JSON.parse(stored) as UncheckedMark);
}

export function writeUnchecked(meta: MetaStore, mark: UncheckedMark | undefined): void {
  if (mark) meta.write("unchecked", JSON.stringify(mark));
  else meta.remove("unchecked");
}
