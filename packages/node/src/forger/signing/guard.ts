/**
 * Decides whether a slot of this node may be signed: by the signing record, and by blocks of other forgers that sign with keys of this
 * node. After its start, the node first watches for blocks of its keys; later, it stops signing with a key while blocks appear that are
 * signed with the key, but not by this process.
 */
import type { BlockHeader } from "@uniknode/protocol";
import type { SigningRefusalKind } from "../../gateway/figures.ts";
import type { SlotStore } from "../../store/node/slots.ts";

/** Reason why this node does not sign one of its own slots although it could. */
export type Refusal = {
  readonly kind: SigningRefusalKind;
  /** Text for the log and `uniknode forger why`. */
  readonly reason: string;
};

export type OtherForgerDeps = {
  /** Number of rounds to watch after the start; 0: signs at once. */
  readonly watchRounds: number;
  /** Returns the number of slots of a round. */
  readonly roundLength: () => number;
  /** Public keys of the delegates of this node. */
  readonly publicKeys: Iterable<string>;
  /** Returns the highest slot that was signed with a key. */
  readonly lastSlot: (publicKey: string) => number | undefined;
  readonly slotOf: (header: BlockHeader) => number;
  readonly currentSlot: () => number;
  readonly isSignatureValid: (header: BlockHeader) => boolean;
  /** Called when another forger is found, and not again while its blocks keep appearing. */
  readonly onFound: (header: BlockHeader) => void;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
};

type Found = { readonly header: BlockHeader; readonly slot: number; readonly untilSlot: number };

/** Number of slots before the current one whose blocks are evaluated; this process signs at most one block in each. */
const JUDGED_SLOTS = 1_000;
/**
 * Number of rounds within which every active delegate has a slot, even if it is first in one and last in the
 * next.
 */
const SURE_ROUNDS = 2;

export class OtherForger {
  readonly #deps: OtherForgerDeps;
  #firstSlot = Number.POSITIVE_INFINITY;
  /** Last slots, by key, that an earlier process signed; only the slots of these blocks are known. */
  readonly #signedBefore = new Map<string, number>();
  readonly #leftOut = new Map<string, number>();
  /** Ids of the blocks that this process signed, oldest first. Only the owner of a key can change the id of its block. */
  readonly #own = new Set<string>();
  /** The newest foreign block of each key, and until which slot its forger counts as active. */
  readonly #found = new Map<string, Found>();

  constructor(deps: OtherForgerDeps) {
    this.#deps = deps;
  }

  /** Sets the slot at which signing begins; blocks of earlier slots are not evaluated. */
  start(firstSlot: number): void {
    const { publicKeys, lastSlot } = this.#deps;
    this.#firstSlot = firstSlot;
    for (const publicKey of publicKeys) this.#signedBefore.set(publicKey, lastSlot(publicKey) ?? -1);
  }

  refusalOf(publicKey: string, slot: number): Refusal | undefined {
    const { watchRounds, roundLength } = this.#deps;
    const other = this.#active(publicKey, slot);
    if (other) return foundRefusal(other);
    if (this.#isWatched(publicKey, slot)) return undefined;
    return watchingRefusal(Math.max(slot + 1, this.#firstSlot + watchRounds * roundLength()));
  }

  /** Called when a slot of the key passed unsigned because of `watching`. */
  leftOut(publicKey: string): void {
    this.#leftOut.set(publicKey, (this.#leftOut.get(publicKey) ?? 0) + 1);
  }

  /** Called when this process signed a block. */
  signed({ id }: BlockHeader): void {
    this.#own.add(id);
    const [oldest] = this.#own;
    if (oldest !== undefined && this.#own.size > 2 * JUDGED_SLOTS) this.#own.delete(oldest);
  }

  /**
   * Records a block of the chain, or a received block whose signature is not verified yet. Returns true if another
   * forger signed it with a key of this node.
   */
  saw(header: BlockHeader, isVerified: boolean): boolean {
    const last = this.#found.get(header.generatorPublicKey);
    if (last?.header.id === header.id) return true;
    const slot = this.#deps.slotOf(header);
    if (!this.#isForeign(header, slot, isVerified)) return false;
    // An earlier block is not new evidence: any node can send it again.
    if (!last || slot > last.slot) this.#add(header, slot);
    return true;
  }

  /** Returns the number of keys with which another forger signs now. */
  count(): number {
    const slot = this.#deps.currentSlot();
    return [...this.#found.keys()].filter((publicKey) => this.#active(publicKey, slot)).length;
  }

  /**
   * Returns true if the watch is over: its rounds have passed, and the key had slots that this node left to another
   * forger.
   */
  #isWatched(publicKey: string, slot: number): boolean {
    const { watchRounds, roundLength } = this.#deps;
    const rounds = (slot - this.#firstSlot) / roundLength();
    const isLeftOut = (this.#leftOut.get(publicKey) ?? 0) >= watchRounds;
    return watchRounds === 0 || rounds >= watchRounds * (isLeftOut ? 1 : SURE_ROUNDS);
  }

  #isForeign(header: BlockHeader, slot: number, isVerified: boolean): boolean {
    const { currentSlot, isSignatureValid } = this.#deps;
    const lastBefore = this.#signedBefore.get(header.generatorPublicKey);
    if (lastBefore === undefined || slot <= lastBefore || slot < this.#firstSlot) return false;
    if (slot > currentSlot() + 1 || slot <= currentSlot() - JUDGED_SLOTS) return false;
    return !this.#own.has(header.id) && (isVerified || isSignatureValid(header));
  }

  #active(publicKey: string, slot: number): Found | undefined {
    const other = this.#found.get(publicKey);
    return other && slot < other.untilSlot ? other : undefined;
  }

  #add(header: BlockHeader, slot: number): void {
    const { roundLength, currentSlot, onFound, random } = this.#deps;
    const isNew = this.#active(header.generatorPublicKey, currentSlot()) === undefined;
    // Two forgers that found each other must not resume at the same time.
    const rounds = SURE_ROUNDS * (1 + random());
    const untilSlot = slot + Math.ceil(rounds * roundLength());
    this.#found.set(header.generatorPublicKey, { header, slot, untilSlot });
    if (isNew && currentSlot() < untilSlot) onFound(header);
  }
}

function foundRefusal({ header: { id, height }, slot, untilSlot }: Found): Refusal {
  const reason =
    `another forger signs with this key (block ${id} at height ${height}, slot ${slot}): ` +
    `stop one of the two nodes; this one does not forge before slot ${untilSlot}`;
  return { kind: "other_forger", reason };
}

const watchingRefusal = (untilSlot: number): Refusal => ({
  kind: "watching",
  reason: `watching for another forger with the same keys until slot ${untilSlot} (--watch-rounds)`,
});

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
export const recordInDatabase = (slotStore: Pick<SlotStore, "forgedBy" | "recordForged">): SigningRecord => ({
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
