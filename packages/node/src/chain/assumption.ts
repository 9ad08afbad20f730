/**
 * Blocks whose signatures are assumed to be valid: those up to a block whose id the operator pinned (decision
 * 39). The height of the first such block is stored on disk until the chain contains the pinned block or the
 * unchecked blocks are removed.
 */
import type { BlockHeader } from "@uniknode/protocol";
import { type MetaStore, readUnchecked, type UncheckedMark, writeUnchecked } from "../store/node/meta.ts";
import { ChainError } from "./error.ts";

/** A block that the chain has according to the operator. The id has 64 digits: shorter ones can be forged. */
export type Pin = { readonly height: number; readonly id: string };

export const pinText = ({ height, id }: Pin): string => `${height}:${id}`;

/** The outcome of a pin. */
export type PinNews =
  /** The chain contains the pinned block, and with it all blocks below. */
  | { readonly kind: "reached"; readonly pin: Pin }
  /**
   * The chain has another block at this height. All its signatures were checked, as were the signatures of the blocks
   * below.
   */
  | { readonly kind: "other"; readonly pin: Pin; readonly id: string }
  /**
   * The chain had another block at this height, or most peers have another chain. The unchecked blocks were
   * discarded.
   */
  | { readonly kind: "failed"; readonly pin: Pin; readonly height: number };

type Extension = { readonly block: { readonly header: BlockHeader }; readonly isAssumed: boolean };

export type Assumption = {
  /** Returns the pin in force; undefined if there is none, or if it has failed. */
  pin(): Pin | undefined;
  /** Returns the height of the first unchecked block, until the chain contains the pinned block. */
  uncheckedFrom(): number | undefined;
  /** Returns true if the signatures of a fetched block may be assumed to be valid. */
  covers(header: BlockHeader): boolean;
  /**
   * Notes blocks that are committed, within their transaction.
   *
   * @throws {ChainError} CHAIN_PIN_FAILED when the chain would have another block than the pinned one above blocks that were
   *   not checked
   */
  extended(blocks: readonly Extension[]): void;
  /** Returns the outcome of the pin if the committed blocks reach its height. */
  reachedBy(blocks: readonly Extension[]): PinNews | undefined;
  /** Notes that the blocks above a height were removed, within the same transaction. */
  reverted(height: number): void;
  /**
   * Notes that the unchecked blocks were removed and the pin must not be used again, within the same
   * transaction.
   */
  failed(): void;
  /** Reloads the state from disk after a transaction that failed. */
  reload(): void;
};

const FULL_ID_DIGITS = 64;

/** @throws {ChainError} CHAIN_UNCHECKED when the chain has blocks that were not checked because of another pin */
export function openAssumption(meta: MetaStore, given: Pin | undefined): Assumption {
  const name = given && pinText(given);
  let mark: UncheckedMark | undefined;
  let hasFailed = false;

  function reload(): void {
    mark = readUnchecked(meta);
    hasFailed = name !== undefined && meta.read("failedPin") === name;
  }

  function setMark(next: UncheckedMark | undefined): void {
    writeUnchecked(meta, next);
    mark = next;
  }

  reload();
  if (mark && mark.pin !== name) throw uncheckedBlocks(mark);

  const pin = () => (hasFailed ? undefined : given);
  return {
    pin,
    reload,
    uncheckedFrom: () => mark?.from,
    covers({ height, id }) {
      const top = pin();
      // A short id matches more than one block.
      return top !== undefined && height <= top.height && id.length === FULL_ID_DIGITS;
    },
    extended(blocks) {
      const top = pin();
      if (!top) return;
      const before = mark;
      for (const { block, isAssumed } of blocks) {
        const { height, id } = block.header;
        if (isAssumed) mark ??= { from: height, pin: pinText(top) };
        if (!mark || height !== top.height) continue;
        if (id !== top.id) throw pinFailed(top, id);
        mark = undefined;
      }
      if (mark !== before) setMark(mark);
    },
    reachedBy(blocks) {
      const top = pin();
      const id = top && blocks.find(({ block }) => block.header.height === top.height)?.block.header.id;
      if (!top || id === undefined) return undefined;
      return id === top.id ? { kind: "reached", pin: top } : { kind: "other", pin: top, id };
    },
    reverted(height) {
      if (mark && height < mark.from) setMark(undefined);
    },
    failed() {
      setMark(undefined);
      if (name !== undefined) meta.write("failedPin", name);
      hasFailed = true;
    },
  };
}

const uncheckedBlocks = ({ from, pin }: UncheckedMark) =>
  new ChainError(
    "CHAIN_UNCHECKED",
    `blocks from ${from} on were stored without checking their signatures: start with --assume-valid ${pin}, ` +
      "as before, until that block is reached, or move the data folder away to start over",
  );

const pinFailed = ({ height, id }: Pin, other: string) =>
  new ChainError(
    "CHAIN_PIN_FAILED",
    `block ${height} is ${other}, not ${id} as --assume-valid says; blocks with unchecked signatures are discarded; the next attempt checks all signatures`,
  );

/** Outcome of blocks that were prepared before the pin failed. */
export const pinHasFailed = () =>
  new ChainError(
    "CHAIN_PIN_FAILED",
    "the block of --assume-valid is not on this chain: all signatures must be checked",
  );
