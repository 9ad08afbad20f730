/** History of the forger: the last slot that each delegate forged, and the reasons of missed slots. */
import type { Database } from "../engine/database.ts";

export type SlotStore = {
  /** Returns the last slot that was forged with a key. */
  lastForged(publicKey: string): number | undefined;
  /** Returns `lastForged` with the id of the block. */
  forgedBy(publicKey: string): { readonly slot: number; readonly blockId: string } | undefined;
  /**
   * Records a slot before its block is sent.
   *
   * @param survives failure that the row survives once the call has returned; a row that only survives the end of the
   * process is history, not protection
   */
  recordForged(
    publicKey: string,
    slot: number,
    blockId: string,
    survives?: "power loss" | "process death",
  ): void;
  /** Records a reason of the forger, which replaces any other reason of the slot. */
  recordMissed(publicKey: string, slot: number, reason: string): void;
  /**
   * Records a slot without a block. A reason of the forger takes precedence, whether it was recorded earlier or later.
   */
  recordGap(publicKey: string, slot: number, reason: string): void;
  /** Removes a slot whose block arrived late. */
  forgetMissed(publicKey: string, slot: number): void;
  /** The latest missed slots of this node's delegates, newest first. */
  missed(limit: number): MissedSlot[];
  missedAt(slot: number): MissedSlot[];
};

export type MissedSlot = { readonly slot: number; readonly publicKey: string; readonly reason: string };

/** Maximum number of rows of missed slots. */
const MAX_MISSED = 10_000;

export function createSlotStore(database: Database): SlotStore {
  const selectForged = database.prepare<{ slot: number; blockId: string }>(
    "SELECT slot, block_id AS blockId FROM forged_slots WHERE public_key = ?",
  );
  const upsertForged = database.prepare(
    `INSERT INTO forged_slots (public_key, slot, block_id) VALUES (?, ?, ?)
     ON CONFLICT (public_key) DO UPDATE SET slot = excluded.slot, block_id = excluded.block_id
     WHERE excluded.slot > slot`,
  );
  const insertMissed = database.prepare(
    "INSERT OR REPLACE INTO missed_slots (slot, public_key, reason) VALUES (?, ?, ?)",
  );
  const insertGap = database.prepare(
    "INSERT OR IGNORE INTO missed_slots (slot, public_key, reason) VALUES (?, ?, ?)",
  );
  const removeMissed = database.prepare("DELETE FROM missed_slots WHERE slot = ? AND public_key = ?");
  const pruneMissed = database.prepare(
    "DELETE FROM missed_slots WHERE slot < (SELECT slot FROM missed_slots ORDER BY slot DESC LIMIT 1 OFFSET +?)",
  );
  const selectMissed = database.prepare<MissedSlot>(
    "SELECT slot, public_key AS publicKey, reason FROM missed_slots ORDER BY slot DESC LIMIT +?",
  );
  const selectMissedAt = database.prepare<MissedSlot>(
    "SELECT slot, public_key AS publicKey, reason FROM missed_slots WHERE slot = +? ORDER BY public_key",
  );
  return {
    lastForged: (publicKey) => selectForged.get(publicKey)?.slot,
    forgedBy: (publicKey) => selectForged.get(publicKey),
    recordForged(publicKey, slot, blockId, survives) {
      database.transaction(() => upsertForged.run(publicKey, slot, blockId), survives);
    },
    recordMissed(publicKey, slot, reason) {
      database.transaction(() => {
        insertMissed.run(slot, publicKey, reason);
        pruneMissed.run(MAX_MISSED);
      });
    },
    recordGap: (publicKey, slot, reason) => void insertGap.run(slot, publicKey, reason),
    forgetMissed: (publicKey, slot) => void removeMissed.run(slot, publicKey),
    missed: (limit) => selectMissed.all(limit),
    missedAt: (slot) => selectMissedAt.all(slot),
  };
}
