/** Imports a stream of blocks into a data folder. Like all blocks, they are verified, executed and committed in batches. */

import { join } from "node:path";
import { type BlockHeader, createSlots, decodeHeader, type Network } from "@uniknode/protocol";
import type { Pin } from "../chain/assumption.ts";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../chain/chain.ts";
import { type Outcome, refusalOf } from "../chain/outcome.ts";
import { refuseOtherNetwork } from "../chain/stores.ts";
import { createSelection, openSubscribedEvents } from "../event-log/subscribed-events.ts";
import { eventsOfRevert } from "../events/block-events.ts";
import { hasFeedChanges, MAX_FEED_BLOCKS } from "../store/chain/feed-changes.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import { migrate } from "../store/engine/migrations.ts";
import { EventLog } from "../store/events/event-log.ts";
import { hasHistory } from "../store/history/writer.ts";
import { createWebhookNames } from "../webhooks/sqlite/hand-over/owner.ts";
import { ArchiveError } from "./archive-error.ts";
import { type ArchivedChain, latestMs } from "./check.ts";
import { readStream, skipBlocks } from "./stream.ts";

type ImportDeps = ArchivedChain & {
  /** Signatures are not checked up to this block; if absent, all are checked. */
  readonly assumeValid?: Pin | undefined;
  /** Height of the last block of the stream, if known: blocks far below get no undo records. */
  readonly targetHeight?: number | undefined;
  /** Called with the number of blocks of the stream that were skipped or accepted so far. */
  readonly onProgress: (blocks: number) => void;
  /** Called before the locked folder gets the first block. */
  readonly claimFolder?: () => void;
};

type Imported = {
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
  const { network, claimFolder, onProgress } = deps;
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
    let skipped = 0;
    const onSkip = (count: number) => {
      skipped = count;
      onProgress(count);
    };
    const unknown = skipBlocks(blocks, height + 1 - start.height, onSkip, (last) =>
      requireSameBlock(chain, { height: start.height + skipped - 1, bytes: last }, network),
    );
    const { accepted, refusal } = await replay(chain, unknown, {
      targetHeight: deps.targetHeight,
      onProgress: (accepted) => onProgress(skipped + accepted),
    });
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

/** The chain continues what the node records in the folder; otherwise, it would remove earlier states and changes for mirrors. */
function createImportingChain(
  database: Database,
  { network, genesis, verifier, nowMs, hasOwnClock = false, assumeValid }: ImportDeps,
): Chain {
  const slots = createSlots(network);
  const subscribedEvents = openSubscribedEvents(database, createWebhookNames(database));
  const options = {
    ...DEFAULT_CHAIN_OPTIONS,
    // The depth is an option of the node, which removes the surplus.
    feedBlocks: hasFeedChanges(database) ? MAX_FEED_BLOCKS : 0,
    recordsHistory: hasHistory(database),
  };
  return new Chain(options, {
    database,
    network,
    genesis,
    verifier,
    assumeValid,
    eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
    events: new EventLog(database, { recordedNames: subscribedEvents.names, now: nowMs }),
    eventsOfFacts: createSelection({ subscribedEvents, slots, now: () => slots.timeAt(nowMs()) }),
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

/** @throws {ArchiveError} ARCHIVE_INVALID if the chain has another block at the height; ARCHIVE_DAMAGED */
function requireSameBlock(
  { blocks }: Pick<Chain, "blocks">,
  { height, bytes }: { readonly height: number; readonly bytes: Uint8Array },
  network: Network,
): void {
  const known = blocks.header(height)?.id;
  const id = idIn(bytes, network);
  // The genesis block has the id of its file.
  if (id === known || height === 1) return;
  throw new ArchiveError(
    "ARCHIVE_INVALID",
    `block ${height} of the stream is ${id}, but the chain has ${known}: an import does not replace the blocks of another branch; import the stream into an empty folder`,
  );
}

function idIn(bytes: Uint8Array, network: Network): string {
  try {
    return decodeHeader(bytes, network).header.id;
  } catch (error) {
    throw new ArchiveError("ARCHIVE_DAMAGED", `the stream is damaged: ${(error as Error).message}`);
  }
}

type ReplayOptions = {
  /** Maximum bytes of submitted blocks that are not committed yet. */
  readonly maxBytesInFlight?: number;
  /** Height of the last block, if known: blocks far below get no undo records. */
  readonly targetHeight?: number | undefined;
  /** Called after each batch with the blocks accepted so far. */
  readonly onProgress?: (accepted: number) => void;
};

type Replayed = {
  readonly accepted: number;
  /** Outcome of the block that ended the replay early. */
  readonly refusal?: Exclude<Outcome, { kind: "Accepted" }>;
};

/** Enough to keep every verifier busy during a commit, and negligible in memory usage. */
const MAX_BYTES_IN_FLIGHT = 2 * 1024 * 1024;
const BATCH_BYTES = 128 * 1024;
const BATCH_BLOCKS = 400;

/**
 * Submits serialized blocks, beginning with the one above the head, until they end or one is refused.
 *
 * @throws {ChainError} as `Chain.acceptFetched`, or what the source of the blocks throws; the blocks before
 * it have an outcome by then
 */
export async function replay(
  chain: Chain,
  blocks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { maxBytesInFlight = MAX_BYTES_IN_FLIGHT, targetHeight, onProgress }: ReplayOptions = {},
): Promise<Replayed> {
  let accepted = 0;
  let bytesInFlight = 0;
  let refusal: Replayed["refusal"];
  let failure: { error: unknown } | undefined;
  const inFlight = new Set<Promise<void>>();

  function hand(batch: readonly Uint8Array[], bytes: number): void {
    bytesInFlight += bytes;
    const settled = chain
      .acceptFetched(batch, { targetHeight })
      .then((outcomes) => {
        const stop = outcomes.findIndex(({ kind }) => kind !== "Accepted");
        accepted += stop === -1 ? outcomes.length : stop;
        if (stop !== -1) refusal ??= outcomes[stop] as Replayed["refusal"];
        onProgress?.(accepted);
      })
      .catch((error) => {
        failure ??= { error };
      })
      .finally(() => {
        bytesInFlight -= bytes;
        inFlight.delete(settled);
      });
    inFlight.add(settled);
  }

  let batch: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    if (batch.length > 0) hand(batch, bytes);
    batch = [];
    bytes = 0;
  };
  try {
    for await (const block of blocks) {
      if (refusal || failure) break;
      batch.push(block);
      bytes += block.length;
      if (bytes < BATCH_BYTES && batch.length < BATCH_BLOCKS) continue;
      flush();
      while (bytesInFlight > maxBytesInFlight) await Promise.race(inFlight);
    }
  } catch (error) {
    // The blocks that arrived before their source failed are valid.
    flush();
    failure ??= { error };
  }
  if (!refusal && !failure) flush();
  await Promise.all(inFlight);
  if (failure) throw failure.error;
  return { accepted, ...(refusal && { refusal }) };
}
