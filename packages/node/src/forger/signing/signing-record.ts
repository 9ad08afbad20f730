/** The last slot signed with each key of this node, which decides whether a slot may be signed. */
import type { SlotStore } from "../../store/node/slots.ts";

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
