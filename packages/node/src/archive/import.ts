/** Imports a stream of blocks into a data folder. Like all blocks, they are verified, executed and committed in batches. */
import { join } from "node:path";
import { type BlockHeader, createSlots, type Network } from "@uniknode/protocol";
import type { Pin } from "../chain/assumption.ts";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../chain/chain.ts";
import { refusalOf } from "../chain/outcome.ts";
import { replay } from "../chain/replay.ts";
import { refuseOtherNetwork } from "../chain/stores.ts";
import { recordedEvents } from "../event-log/subscribed-events.ts";
import { eventsOfRevert } from "../events/block-events.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import { migrate } from "../store/engine/migrations.ts";
import { createEventLog } from "../store/events/event-log.ts";
import { runNow, sqlOf } from "../webhooks/sqlite/sql.ts";
import { readEventNames } from "../webhooks/storage/webhooks.ts";
import { ArchiveError } from "./archive-error.ts";
import { type ArchivedChain, latestMs } from "./check.ts";
import { readStream } from "./stream.ts";

type ImportDeps = ArchivedChain & {
  /** Signatures are not checked up to this block; if absent, all are checked. */
  readonly assumeValid?: Pin | undefined;
  /** Height of the last block of the stream, if known: blocks far below get no undo records. */
  readonly targetHeight?: number | undefined;
  /** Called with the number of blocks accepted so far. */
  readonly onProgress: (accepted: number) => void;
  /** Called before the locked folder gets the first block. */
  readonly claimFolder?: () => void;
};

export type Imported = {
  readonly accepted: number;
  /** Blocks of the stream that the chain already had. */
  readonly skipped: number;
  readonly head: BlockHeader;
  /** First block whose signatures were not checked, until the chain has the block of `assumeValid`. */
  readonly uncheckedFrom: number | undefined;
};

/**
 * Continues at the head of the folder's chain: blocks that it already has are skipped. An interrupted import can be
 * started again.
 *
 * @throws {DataInUseError}
 * @throws {ArchiveError} ARCHIVE_DAMAGED, ARCHIVE_FOREIGN, ARCHIVE_MISSING when blocks between head and stream are
 *   missing, ARCHIVE_INVALID when a block is refused; blocks accepted before are kept
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH, before anything is written; CHAIN_PIN_FAILED, CHAIN_UNCHECKED
 */
export async function importBlocks(
  chunks: AsyncIterable<Uint8Array>,
  data: string,
  deps: ImportDeps,
): Promise<Imported> {
  const { network, claimFolder } = deps;
  const { head: start, blocks } = await readStream(chunks);
  if (start.nethash !== network.description.nethash) throw foreign(start.nethash, network);
  const lock = lockDataFolder(data);
  const path = join(data, "node.sqlite");
  let database: Database | undefined;
  try {
    refuseOtherNetwork(path, network);
    claimFolder?.();
    database = openDatabase(path);
    migrate(database, path);
    const chain = createImportingChain(database, deps);
    const { height } = chain.head();
    if (start.height > height + 1) {
      throw new ArchiveError(
        "ARCHIVE_MISSING",
        `the stream begins at block ${start.height}, but the chain ends at ${height}: import the missing blocks first`,
      );
    }
    const skipped = height + 1 - start.height;
    const { accepted, refusal } = await replay(chain, skip(blocks, skipped), deps);
    if (refusal) {
      const reason = refusalOf(refusal);
      throw new ArchiveError("ARCHIVE_INVALID", `block ${height + accepted + 1} was refused: ${reason}`);
    }
    return { accepted, skipped, head: chain.head(), uncheckedFrom: chain.assumption().uncheckedFrom };
  } finally {
    database?.close();
    lock.release();
  }
}

function createImportingChain(
  database: Database,
  { network, genesis, verifier, nowMs, hasOwnClock = false, assumeValid }: ImportDeps,
): Chain {
  const slots = createSlots(network);
  const names = runNow(readEventNames(sqlOf(database)));
  return new Chain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis,
    verifier,
    assumeValid,
    eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
    events: createEventLog(database, { recordedNames: () => names, now: nowMs }),
    eventsOfFacts: (facts, header) =>
      recordedEvents(facts, header, {
        names,
        isCatchingUp: true,
        now: slots.timeAt(nowMs()),
        slots,
      }),
    now: latestMs({ nowMs, hasOwnClock }),
    onListenerError(error) {
      throw error;
    },
  });
}

const foreign = (found: string, { description: { name, nethash } }: Network) =>
  new ArchiveError(
    "ARCHIVE_FOREIGN",
    `the blocks belong to the network ${found}, not to ${name} (${nethash})`,
  );

async function* skip(blocks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let skipped = 0;
  for await (const block of blocks) if (skipped++ >= count) yield block;
}
