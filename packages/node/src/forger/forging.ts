/** Composes forging: the forger, the guards of its signatures, and the detection of missed slots on the chain. */
import type { Round } from "@uniknode/ledger";
import {
  type BlockHeader,
  forgeBlock,
  headerSignatureJob,
  type Network,
  type Rounds,
  verifyHeaderJob,
} from "@uniknode/protocol";
import type { Chain } from "../chain/chain.ts";
import type { Database } from "../store/engine/database.ts";
import { SlotStore } from "../store/node/slots.ts";
import { Forger, type ForgerDeps, type ForgerOptions } from "./forger.ts";
import { Guard, OtherForger, recordInDatabase, type SigningRecord } from "./signing/guard.ts";
import { SigningFile } from "./signing/signing-file.ts";
import { Gaps, type SlotCounts, Tally } from "./slot-outcomes.ts";

export type ForgingOptions = ForgerOptions & {
  /** Path of the signing record; if absent, the database of the data folder is the record. */
  readonly signingRecord: string | undefined;
  /** Rounds for which the start watches for other forgers with the same keys; if absent, it never watches. */
  readonly watchRounds: number | undefined;
};

export type ForgingDeps = Omit<ForgerDeps, "slotStore" | "guard" | "head" | "forgingOrder" | "build"> & {
  readonly database: Database;
  readonly network: Network;
  readonly rounds: Rounds;
  readonly chain: Pick<Chain, "state" | "head" | "blocks">;
};

export type ForgingFigures = SlotCounts & {
  /** Number of this node's keys with which another forger signs now. */
  readonly keysUsedElsewhere: number;
};

export class Forging {
  readonly forger: Forger;
  readonly #deps: ForgingDeps;
  readonly #slotStore: SlotStore;
  readonly #tally: Tally;
  readonly #signingFile: SigningFile | undefined;
  readonly #otherForger: OtherForger | undefined;
  readonly #gaps: Gaps;

  /** @throws {SigningRecordError} if the signing record is in use, damaged, or cannot be written */
  constructor(options: ForgingOptions, deps: ForgingDeps) {
    const { database, network, slots, chain, delegates, nowMs, logger } = deps;
    this.#deps = deps;
    const slotStore = new SlotStore(database, (err) =>
      logger.error({ err }, "failed to write the reasons of missed slots; retrying"),
    );
    const tally = new Tally(slotStore);
    try {
      this.#signingFile = openSigningFile(options, slotStore, deps);
    } catch (error) {
      // The next start delivers the event.
      if (error instanceof Error) deps.onFailed(error);
      throw error;
    }
    const record = this.#signingFile ?? recordInDatabase(slotStore);
    const otherForger =
      options.watchRounds === undefined ? undefined : watchOtherForgers(options.watchRounds, record, deps);
    this.#slotStore = slotStore;
    this.#tally = tally;
    this.#otherForger = otherForger;
    this.forger = new Forger(options, {
      ...deps,
      slotStore: tally,
      guard: new Guard({
        record,
        otherForger,
        slotOf: (header) => slots.slotAt(header.timestamp),
        onRefused: (kind) => tally.refused(kind),
      }),
      head: chain.head,
      forgingOrder: () => roundAt(deps, chain.head().height + 1)?.order ?? [],
      build: ({ slot, transactions, keys }) =>
        forgeBlock({ network, timestamp: slots.slotTime(slot), previous: chain.head(), transactions }, keys),
      ...loggedListeners(options, deps, tally),
    });
    this.#gaps = new Gaps({
      isOurs: (publicKey) => delegates.has(publicKey),
      slots,
      slotStore,
      headerAt: (height) => chain.blocks.header(height),
      roundOf: (height) => roundAt(deps, height),
      onFound: () => tally.gapFound(),
      nowMs,
    });
  }

  /** Returns the figures since the process started. */
  figures(): ForgingFigures {
    return { ...this.#tally.read(), keysUsedElsewhere: this.#otherForger?.count() ?? 0 };
  }

  /** Must be called with every block that became the head. */
  blockApplied(header: BlockHeader): void {
    const { delegates, slots } = this.#deps;
    if (delegates.size > 0) this.#gaps.blockApplied(header);
    if (!this.#otherForger?.saw(header, true)) return;
    const reason = `another forger signs with this key: its block ${header.id} is in the slot`;
    this.#slotStore.recordMissed(header.generatorPublicKey, slots.slotAt(header.timestamp), reason);
  }

  /** Must be called with every block from another node; its signature is not verified yet. */
  blockArrived(header: BlockHeader): void {
    this.#otherForger?.saw(header, false);
  }

  /** Releases the signing record. */
  close(): void {
    this.#signingFile?.close();
  }
}

const roundAt = ({ chain, rounds }: ForgingDeps, height: number): Round | undefined =>
  chain.state.get("rounds", String(rounds.roundAt(height).round));

/**
 * Opens the signing record, which also updates the history in the data folder; undefined if the data folder is the record.
 *
 * @throws {SigningRecordError}
 */
function openSigningFile(
  { signingRecord }: ForgingOptions,
  slotStore: SlotStore,
  { network, chain, delegates, logger }: ForgingDeps,
): SigningFile | undefined {
  if (delegates.size === 0 || signingRecord === undefined) return undefined;
  const known = [...delegates.keys()].flatMap((publicKey) => {
    const last = slotStore.forgedBy(publicKey);
    return last ? [{ publicKey, ...last, height: chain.blocks.headerById(last.blockId)?.height ?? 0 }] : [];
  });
  const file = new SigningFile(signingRecord, {
    nethash: network.description.nethash,
    known,
    // History only: the file has it on disk, so that the database need not wait for the disk.
    onAdded: ({ publicKey, slot, blockId }) =>
      slotStore.recordForged(publicKey, slot, blockId, "process death"),
  });
  if (file.isNew && known.length > 0) {
    logger.warn(
      { path: file.path, slots: known.map(({ slot }) => slot) },
      "signing record missing: created from the data folder, which may be older than the last signed block",
    );
  } else {
    logger.info({ path: file.path, isNew: file.isNew }, "signing record opened");
  }
  return file;
}

/** Detects other forgers that sign with the keys of this node, and reports them. */
function watchOtherForgers(
  watchRounds: number,
  record: Pick<SigningRecord, "lastSigned">,
  { network, chain, delegates, slots, nowMs, logger, onFailed }: ForgingDeps,
): OtherForger {
  return new OtherForger({
    watchRounds,
    roundLength: () => network.milestoneAt(chain.head().height + 1).activeDelegates,
    publicKeys: delegates.keys(),
    lastSlot: (publicKey) => record.lastSigned(publicKey)?.slot,
    slotOf: (header) => slots.slotAt(header.timestamp),
    currentSlot: () => slots.slotAt(slots.timeAt(nowMs())),
    isSignatureValid: (header) => verifyHeaderJob(headerSignatureJob(header, network)) === "valid",
    onFound({ generatorPublicKey: publicKey, height, id }) {
      const message = `another forger signs with key ${publicKey}: block ${id} at height ${height}`;
      logger.error(
        { publicKey, height, id },
        "another forger signs with a key of this node; not forging with this key",
      );
      onFailed(new Error(message));
    },
    random: Math.random,
  });
}

/** Returns listeners that log and count the events of the forger. */
function loggedListeners(
  { watchRounds = 0 }: ForgingOptions,
  { slots, logger, onStarted, onForged }: ForgingDeps,
  tally: Tally,
): Pick<ForgerDeps, "onStarted" | "onForged"> {
  return {
    onStarted(publicKeys) {
      logger.info({ delegates: publicKeys }, "forger started");
      if (watchRounds > 0)
        logger.info({ watchRounds }, "watching for other forgers with the same keys before forging");
      onStarted(publicKeys);
    },
    onForged(block) {
      tally.forged();
      const { height, id, timestamp, generatorPublicKey } = block.header;
      const forged = { height, id, slot: slots.slotAt(timestamp), publicKey: generatorPublicKey };
      logger.info({ ...forged, transactions: block.transactions.length }, "block forged");
      onForged(block);
    },
  };
}
