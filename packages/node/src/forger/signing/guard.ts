/** Decides whether a slot of this node may be signed: by the signing record, and by blocks of other forgers. */
import type { BlockHeader } from "@uniknode/protocol";
import type { SigningRefusalKind } from "../../gateway/figures.ts";
import type { SlotStore } from "../../store/node/slots.ts";
import type { OtherForger, Refusal } from "./other-forger.ts";

/** A signed block. */
export type Signing = {
  /** Public key of the delegate, hexadecimal. */
  readonly publicKey: string;
  readonly slot: number;
  /** 0 if not known. */
  readonly height: number;
  readonly blockId: string;
};

export type SigningRecord = {
  /** The block of the highest slot that was signed with a key. */
  lastSigned(publicKey: string): Signing | undefined;
  /**
   * Records a signing, which is on disk when this returns. The block must not be sent before.
   *
   * @throws {Error} if it cannot be written; `lastSigned` returns it nevertheless
   */
  add(signing: Signing): void;
};

/**
 * Creates a record in the data folder itself, for a chain whose keys are used only there, such as the chain of
 * `uniknode dev`.
 */
export const recordInDatabase = (slotStore: SlotStore): SigningRecord => ({
  lastSigned(publicKey) {
    const last = slotStore.forgedBy(publicKey);
    return last && { publicKey, height: 0, ...last };
  },
  add: ({ publicKey, slot, blockId }) => slotStore.recordForged(publicKey, slot, blockId),
});

export type GuardDeps = {
  readonly record: SigningRecord;
  /** Absent if no other forger can have the keys, or if this node could not receive its blocks. */
  readonly otherForger: Pick<OtherForger, "start" | "refusalOf" | "leftOut" | "signed"> | undefined;
  readonly slotOf: (header: BlockHeader) => number;
  readonly onRefused: (kind: SigningRefusalKind) => void;
};

export class Guard {
  readonly #deps: GuardDeps;

  constructor(deps: GuardDeps) {
    this.#deps = deps;
  }

  /** Sets the slot at which signing begins. */
  start(firstSlot: number): void {
    this.#deps.otherForger?.start(firstSlot);
  }

  /** Returns the reason why a key must not sign in a slot, if any. */
  refusalOf(publicKey: string, slot: number): Refusal | undefined {
    const { record, otherForger } = this.#deps;
    const last = record.lastSigned(publicKey);
    if (last === undefined || last.slot < slot) return otherForger?.refusalOf(publicKey, slot);
    const what = last.slot === slot ? "this slot" : `the later slot ${last.slot}`;
    const reason = `the signing record already has ${what} for this key (block ${last.blockId}): refusing to sign twice`;
    return { kind: "signed_before", reason: last.slot === slot ? reason : `${reason}; is the clock right?` };
  }

  /** Called when a slot was refused. */
  refused(publicKey: string, kind: SigningRefusalKind): void {
    if (kind === "watching") this.#deps.otherForger?.leftOut(publicKey);
    this.#deps.onRefused(kind);
  }

  /**
   * Records a signed block, which is on disk when this returns. The block must not be sent before.
   *
   * @throws {Error} if it cannot be recorded
   */
  signed(header: BlockHeader): void {
    const { record, otherForger, slotOf } = this.#deps;
    const { generatorPublicKey: publicKey, height, id: blockId } = header;
    record.add({ publicKey, slot: slotOf(header), height, blockId });
    otherForger?.signed(header);
  }
}
