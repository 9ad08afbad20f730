/**
 * Blocks whose signatures are assumed to be valid: those up to a block whose id the operator knows (decision 39). From the
 * first of them on they are marked on disk, until the chain has the pinned block or they are gone.
 */
import type { BlockHeader } from "@uniknode/protocol";
import type { MetaStore } from "../store/node/meta.ts";
import { readUnchecked, type UncheckedMark, writeUnchecked } from "../store/node/unchecked.ts";
import { ChainError } from "./error.ts";

/** A block that the chain has according to the operator. The id has 64 digits: shorter ones can be forged. */
export type Pin = { readonly height: number; readonly id: string };

export const pinText = ({ height, id }: Pin): string => `${height}:${id}`;

/** What became of a pin. */
export type PinNews =
  /** The chain has the pinned block, and with it all blocks below. */
  | { readonly kind: "reached"; readonly pin: Pin }
  /** The chain has another block there, whose signatures were all checked, as were those of the blocks below. */
  | { readonly kind: "other"; readonly pin: Pin; readonly id: string }
  /** The chain had another block there, or most peers another chain: blocks above the height were not checked, and discarded. */
  | { readonly kind: "failed"; readonly pin: Pin; readonly height: number };

type Extension = { readonly block: { readonly header: BlockHeader }; readonly isAssumed: boolean };

export type Assumption = {
  /** In force; absent without a pin, and once it has failed. */
  pin(): Pin | undefined;
  /** Height of the first block that was not checked, until the chain has the pinned block. */
  uncheckedFrom(): number | undefined;
  /** Whether the signatures of a block that was fetched may be assumed to be valid. */
  covers(header: BlockHeader): boolean;
  /**
   * Notes blocks that are committed, within their transaction.
   *
   * @throws {ChainError} CHAIN_PIN_FAILED when the chain would have another block than the pinned one above blocks that were
   *   not checked
   */
  extended(blocks: readonly Extension[]): void;
  /** What became of the pin by blocks that were committed, if they reach it. */
  reachedBy(blocks: readonly Extension[]): PinNews | undefined;
  /** Notes that the blocks above a height are gone, within the same transaction. */
  reverted(height: number): void;
  /** Notes that what was not checked is gone and the pin is not to be used again, within the same transaction. */
  failed(): void;
  /** Returns to what is on disk, after a transaction that failed. */
  reload(): void;
};

const FULL_ID_DIGITS = 64;

/**
 * @throws {ChainError} CHAIN_UNCHECKED when the chain has blocks that were not checked, because of another pin than the given one
 */
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
  if (mark && mark.pin !== name) {
    throw new ChainError(
      "CHAIN_UNCHECKED",
      `blocks from ${mark.from} on were stored without checking their signatures: start with ` +
        `--assume-valid ${mark.pin}, as before, until that block is reached, or move the data folder away to start over`,
    );
  }

  const pin = () => (hasFailed ? undefined : given);
  return {
    pin,
    reload,
    uncheckedFrom: () => mark?.from,
    covers({ height, id }) {
      const top = pin();
      // A short id does not name one block only.
      return top !== undefined && height <= top.height && id.length === FULL_ID_DIGITS;
    },
    extended(blocks) {
      const top = pin();
      if (!top) return;
      const before = mark;
      for (const { block, isAssumed } of blocks) {
        const { height, id } = block.header;
        if (isAssumed) mark ??= { from: height, pin: name! };
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

const pinFailed = ({ height, id }: Pin, other: string) =>
  new ChainError(
    "CHAIN_PIN_FAILED",
    `block ${height} is ${other}, not ${id} as --assume-valid says; blocks with unchecked signatures are discarded; the next attempt checks all signatures`,
  );

/** Blocks that were prepared before the pin failed. */
export const pinHasFailed = () =>
  new ChainError(
    "CHAIN_PIN_FAILED",
    "the block of --assume-valid is not on this chain: all signatures must be checked",
  );
