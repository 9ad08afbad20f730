/** History of the forger: the last slot that each delegate forged, and the reasons of missed slots. */
import type { Database, Durability } from "../engine/database.ts";

export type MissedSlot = { readonly slot: number; readonly publicKey: string; readonly reason: string };

/** Maximum number of rows of missed slots. */
const MAX_MISSED = 10_000;

/** Maximum number of waiting reasons: several hours of a delegate's slots. The oldest are dropped first. */
const MAX_WAITING = 1_000;

export class SlotStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #onFailed: ((error: unknown) => void) | undefined;
  /** Reasons of missed slots that are not written yet. */
  readonly #waiting: MissedSlot[] = [];

  /** @param onFailed called with the error that kept the reason of a missed slot from being written; absent: it is thrown */
  constructor(database: Database, onFailed?: (error: unknown) => void) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#onFailed = onFailed;
  }

  /** Returns the last slot that was forged with a key. */
  forgedBy(publicKey: string): { readonly slot: number; readonly blockId: string } | undefined {
    return this.#statements.selectForged.get(publicKey);
  }

  /**
   * Records a slot before its block is sent.
   *
   * @param survives failure that the row survives once the call has returned; a row that only survives the end of the
   * process is history, not protection
   */
  recordForged(publicKey: string, slot: number, blockId: string, survives?: Durability): void {
    this.#database.transaction(() => this.#statements.upsertForged.run(publicKey, slot, blockId), survives);
    this.#writeWaiting();
  }

  /**
   * Records a reason of the forger, which replaces any other reason of the slot. It waits for the next write if it
   * cannot be written, for instance because the disk is full.
   */
  recordMissed(publicKey: string, slot: number, reason: string): void {
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push({ publicKey, slot, reason });
    this.#writeWaiting();
  }

  /**
   * Records a slot without a block. A reason of the forger takes precedence, whether it was recorded earlier or later.
   *
   * @returns true if the slot had no reason
   */
  recordGap(publicKey: string, slot: number, reason: string): boolean {
    const isWaiting = this.#waiting.some((other) => other.slot === slot && other.publicKey === publicKey);
    return this.#statements.insertGap.run(slot, publicKey, reason).changes > 0 && !isWaiting;
  }

  /** Removes a slot whose block arrived late. */
  forgetMissed(publicKey: string, slot: number): void {
    this.#statements.removeMissed.run(slot, publicKey);
  }

  /** The latest missed slots of this node's delegates, newest first. */
  missed(limit: number): MissedSlot[] {
    return this.#statements.selectMissed.all(limit);
  }

  missedAt(slot: number): MissedSlot[] {
    return this.#statements.selectMissedAt.all(slot);
  }

  #writeWaiting(): void {
    const { insertMissed, pruneMissed } = this.#statements;
    try {
      for (let missed = this.#waiting[0]; missed; missed = this.#waiting[0]) {
        const { slot, publicKey, reason } = missed;
        this.#database.transaction(() => {
          insertMissed.run(slot, publicKey, reason);
          pruneMissed.run(MAX_MISSED);
        });
        this.#waiting.shift();
      }
    } catch (error) {
      if (!this.#onFailed) throw error;
      this.#onFailed(error);
    }
  }
}

const prepareStatements = (database: Database) => ({
  selectForged: database.prepare<{ slot: number; blockId: string }>(
    "SELECT slot, block_id AS blockId FROM forged_slots WHERE public_key = ?",
  ),
  upsertForged: database.prepare(
    `INSERT INTO forged_slots (public_key, slot, block_id) VALUES (?, ?, ?)
     ON CONFLICT (public_key) DO UPDATE SET slot = excluded.slot, block_id = excluded.block_id
     WHERE excluded.slot > slot`,
  ),
  insertMissed: database.prepare(
    "INSERT OR REPLACE INTO missed_slots (slot, public_key, reason) VALUES (?, ?, ?)",
  ),
  insertGap: database.prepare(
    "INSERT OR IGNORE INTO missed_slots (slot, public_key, reason) VALUES (?, ?, ?)",
  ),
  removeMissed: database.prepare("DELETE FROM missed_slots WHERE slot = ? AND public_key = ?"),
  pruneMissed: database.prepare(
    "DELETE FROM missed_slots WHERE slot < (SELECT slot FROM missed_slots ORDER BY slot DESC LIMIT 1 OFFSET +?)",
  ),
  selectMissed: database.prepare<MissedSlot>(
    "SELECT slot, public_key AS publicKey, reason FROM missed_slots ORDER BY slot DESC LIMIT +?",
  ),
  selectMissedAt: database.prepare<MissedSlot>(
    "SELECT slot, public_key AS publicKey, reason FROM missed_slots WHERE slot = +? ORDER BY public_key",
  ),
});
