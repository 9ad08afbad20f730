/**
 * Builds the block of one slot: signs it if the guard allows it, submits it to the chain, and records the reason if the
 * slot gets no block.
 */
import type { EncodedBlock, KeyPair, SealedTransaction } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { SigningRefusalKind } from "../gateway/figures.ts";
import { CodedError } from "../platform/coded-error.ts";
import { troubleOf } from "../platform/files/disk.ts";
import type { SlotStore } from "../store/node/slots.ts";
import type { Guard, Refusal } from "./signing/guard.ts";

/** A slot is not signed. */
export class SlotRefusedError extends CodedError<"SLOT_REFUSED"> {
  readonly slot: number;
  readonly publicKey: string;
  readonly kind: SigningRefusalKind;
  readonly reason: string;

  constructor(slot: number, publicKey: string, { kind, reason }: Refusal) {
    super("SLOT_REFUSED", `slot ${slot} not signed: ${reason}`, { isRetryable: false });
    this.slot = slot;
    this.publicKey = publicKey;
    this.kind = kind;
    this.reason = reason;
  }
}

/** Content of a block that the head does not determine. */
export type BlockPlan = {
  readonly slot: number;
  readonly transactions: readonly SealedTransaction[];
  readonly keys: KeyPair;
};

export type OwnSlot = { readonly slot: number; readonly publicKey: string; readonly keys: KeyPair };

export type SlotBlocksDeps = {
  readonly guard: Pick<Guard, "refusalOf" | "refused" | "signed">;
  readonly slotStore: Pick<SlotStore, "recordMissed">;
  /** Builds and signs a block on the head. */
  readonly build: (plan: BlockPlan) => EncodedBlock;
  /** Submits a block to the chain; settles with the reason for which it was refused, if it was. */
  readonly submitBlock: (block: EncodedBlock) => Promise<string | undefined>;
  /** Called when the slot must not be attempted again. */
  readonly onSettled: (slot: number) => void;
  readonly onSigned: () => void;
  readonly onForged: (block: EncodedBlock) => void;
  readonly logger: Pick<Logger, "info" | "warn">;
};

export class SlotBlocks {
  readonly #deps: SlotBlocksDeps;

  constructor(deps: SlotBlocksDeps) {
    this.#deps = deps;
  }

  /** @throws {SlotRefusedError | Error} with the reason why there is no block */
  sign({ slot, publicKey, keys }: OwnSlot, transactions: readonly SealedTransaction[]): EncodedBlock {
    const { guard, build, onSettled, onSigned } = this.#deps;
    onSettled(slot);
    const refusal = guard.refusalOf(publicKey, slot);
    if (refusal) {
      guard.refused(publicKey, refusal.kind);
      throw new SlotRefusedError(slot, publicKey, refusal);
    }
    const block = build({ slot, transactions, keys });
    // On disk before the block is sent.
    guard.signed(block.header);
    onSigned();
    return block;
  }

  /**
   * Forges a block and settles with it after the chain has accepted it.
   *
   * @throws {SlotRefusedError | Error} with the reason why there is no block
   */
  async forge(own: OwnSlot, transactions: readonly SealedTransaction[]): Promise<EncodedBlock> {
    const { submitBlock, slotStore, onForged } = this.#deps;
    let block: EncodedBlock;
    let refusal: string | undefined;
    try {
      block = this.sign(own, transactions);
      refusal = await submitBlock(block);
    } catch (error) {
      if (!(error instanceof SlotRefusedError)) this.miss(own, failureReason(error));
      throw error;
    }
    if (refusal !== undefined) {
      slotStore.recordMissed(own.publicKey, own.slot, `the block was refused: ${refusal}`);
      throw new Error(`forged block ${block.header.id} was refused: ${refusal}`);
    }
    onForged(block);
    return block;
  }

  /** Records why a slot has no block of this node. */
  miss({ slot, publicKey }: Pick<OwnSlot, "slot" | "publicKey">, reason: string): void {
    const { slotStore, onSettled, logger } = this.#deps;
    onSettled(slot);
    slotStore.recordMissed(publicKey, slot, reason);
    // The state of the disk is logged separately.
    const level = reason.startsWith(NOT_WRITTEN) ? "info" : "warn";
    logger[level]({ slot, publicKey, reason }, "slot missed");
  }
}

const NOT_WRITTEN = "failed to write the block to the database";

export function failureReason(error: unknown): string {
  const trouble = troubleOf(error);
  if (trouble) return `${NOT_WRITTEN}: ${trouble}`;
  return `failed to create the block: ${error instanceof Error ? error.message : String(error)}`;
}
