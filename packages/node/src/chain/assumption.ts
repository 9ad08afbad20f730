/**
 * Blocks whose signatures are assumed to be valid: those up to a block whose id the operator pinned (decision
 * 39). The height of the first such block is stored on disk until the chain contains the pinned block or the
 * unchecked blocks are removed.
 */
import type { BlockHeader } from "@uniknode/protocol";
import { type MetaStore, readUnchecked, type UncheckedMark, writeUnchecked } from "../store/node/meta.ts";
import { ChainError } from "./outcome.ts";

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

const FULL_ID_DIGITS = 64;

export class Assumption {
  readonly #meta: MetaStore;
  readonly #given: Pin | undefined;
  readonly #name: string | undefined;
  #mark: UncheckedMark | undefined;
  #hasFailed = false;

  /** @throws {ChainError} CHAIN_UNCHECKED when the chain has blocks that were not checked because of another pin */
  constructor(meta: MetaStore, given: Pin | undefined) {
    this.#meta = meta;
    this.#given = given;
    this.#name = given && pinText(given);
    this.reload();
    if (this.#mark && this.#mark.pin !== this.#name && !this.isRefuted()) throw uncheckedBlocks(this.#mark);
  }

  /** Returns the pin in force; undefined if there is none, or if it has failed. */
  pin(): Pin | undefined {
    return this.#hasFailed ? undefined : this.#given;
  }

  /** Returns the height of the first unchecked block, until the chain contains the pinned block. */
  uncheckedFrom(): number | undefined {
    return this.#mark?.from;
  }

  /** Returns true if the signatures of a fetched block may be assumed to be valid. */
  covers({ height, id }: BlockHeader): boolean {
    const top = this.pin();
    // A short id matches more than one block.
    return top !== undefined && height <= top.height && id.length === FULL_ID_DIGITS;
  }

  /**
   * Notes blocks that are committed, within their transaction.
   *
   * @throws {ChainError} CHAIN_PIN_FAILED when the chain would have another block than the pinned one above blocks that were
   *   not checked
   */
  extended(blocks: readonly Extension[]): void {
    const top = this.pin();
    if (!top) return;
    const before = this.#mark;
    for (const { block, isAssumed } of blocks) {
      const { height, id } = block.header;
      if (isAssumed) this.#mark ??= { from: height, pin: pinText(top) };
      if (!this.#mark || height !== top.height) continue;
      if (id !== top.id) throw pinFailed(top, id);
      this.#mark = undefined;
    }
    if (this.#mark !== before) this.#setMark(this.#mark);
  }

  /** Returns the outcome of the pin if the committed blocks reach its height. */
  reachedBy(blocks: readonly Extension[]): PinNews | undefined {
    const top = this.pin();
    const id = top && blocks.find(({ block }) => block.header.height === top.height)?.block.header.id;
    if (!top || id === undefined) return undefined;
    return id === top.id ? { kind: "reached", pin: top } : { kind: "other", pin: top, id };
  }

  /** Notes that the blocks above a height were removed, within the same transaction. */
  reverted(height: number): void {
    if (this.#mark && height < this.#mark.from) this.#setMark(undefined);
  }

  /** Notes that the pin of the unchecked blocks is wrong, before they are removed: an interrupted removal continues at the next start. */
  refuted(): void {
    if (this.#mark) this.#meta.write("failedPin", this.#mark.pin);
  }

  /** Returns true if the unchecked blocks must be removed. */
  isRefuted(): boolean {
    return this.#mark !== undefined && this.#meta.read("failedPin") === this.#mark.pin;
  }

  /**
   * Notes that the unchecked blocks were removed and their pin must not be used again, within the same
   * transaction.
   */
  failed(): void {
    const pin = this.#mark?.pin ?? this.#name;
    this.#setMark(undefined);
    if (pin !== undefined) this.#meta.write("failedPin", pin);
    this.#hasFailed = pin === this.#name;
  }

  /** Reloads the state from disk after a transaction that failed. */
  reload(): void {
    this.#mark = readUnchecked(this.#meta);
    const failed = this.#meta.read("failedPin");
    this.#hasFailed = !this.#mark && this.#name !== undefined && failed === this.#name;
  }

  #setMark(next: UncheckedMark | undefined): void {
    writeUnchecked(this.#meta, next);
    this.#mark = next;
  }
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
