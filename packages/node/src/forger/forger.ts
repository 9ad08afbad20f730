/** Forging in the node's own process (forger.md 3 to 6). */
import type { BlockHeader, EncodedBlock, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { WRITE_RETRY_MS } from "../platform/files/disk.ts";
import { present } from "../platform/present.ts";
import type { SlotStore } from "../store/node/slots.ts";
import type { Delegates } from "./delegates.ts";
import { futureHeadText } from "./future-head.ts";
import { Loop } from "./loop.ts";
import type { Guard } from "./signing/guard.ts";
import { type BlockPlan, failureReason, type OwnSlot, SlotBlocks, SlotRefusedError } from "./slot-block.ts";
import * as slotState from "./slot-state.ts";
import {
  decide,
  isStillTime,
  msUntilSlot,
  nextOwnSlot,
  RETRY_MS,
  type SlotView,
  type Timing,
} from "./slot-state.ts";

export type ForgerOptions = {
  readonly timing: Timing;
  /** True to forge only on demand, and then at the first possible moment. */
  readonly onDemand: boolean;
};

export type ForgerDeps = {
  delegates: Delegates;
  slots: Slots;
  slotStore: Pick<SlotStore, "recordMissed">;
  guard: Guard;
  head: () => BlockHeader;
  /** Public keys in forging order for the block after the head. */
  forgingOrder: () => readonly string[];
  selectTransactions: () => SealedTransaction[];
  /** Builds and signs a block on the head. */
  build: (plan: BlockPlan) => EncodedBlock;
  /** Submits a block to the chain; settles with the reason for which it was refused, if it was. */
  submitBlock: (block: EncodedBlock) => Promise<string | undefined>;
  /**
   * Returns the reason why no block may be forged now, if any, such as catching up. Can be slow.
   */
  preflight: () => string | undefined | Promise<string | undefined>;
  onStarted: (publicKeys: readonly string[]) => void;
  onForged: (block: EncodedBlock) => void;
  onFailed: (error: Error) => void;
  nowMs: () => number;
  logger: Logger;
};

export class Forger {
  readonly #options: ForgerOptions;
  readonly #deps: ForgerDeps;
  readonly #blocks: SlotBlocks;
  readonly #loop: Loop;
  #state = slotState.NOT_STARTED;

  constructor(options: ForgerOptions, deps: ForgerDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#blocks = new SlotBlocks({
      ...deps,
      submitBlock: (block) => deps.submitBlock(block),
      onSettled: (slot) => {
        this.#state = slotState.settled(this.#state, slot);
      },
      onSigned: () => {
        this.#state = slotState.signed(this.#state);
      },
    });
    this.#loop = new Loop(() => this.#takeSlot().catch((error) => this.#fail(error)));
  }

  start(): void {
    const { guard, delegates, onStarted } = this.#deps;
    this.#state = slotState.started(this.#state, currentSlot(this.#deps));
    const { firstSlot } = this.#state;
    guard.start(firstSlot);
    onStarted([...delegates.keys()]);
    this.#loop.start(this.#options.onDemand ? 0 : untilSlot(this.#deps, firstSlot));
  }

  /** Requests a block at the first possible moment. */
  demand(): void {
    this.#state = slotState.demanded(this.#state);
    if (this.#options.onDemand) this.#loop.runNow();
  }

  /** Pauses forging until `resume`; settles when the current slot has ended. */
  pause(): Promise<void> {
    return this.#loop.pause();
  }

  /** Forges again, beginning with the current slot: slots during the pause were skipped on purpose. */
  resume(): void {
    this.#state = slotState.resumed(this.#state, currentSlot(this.#deps));
    this.#loop.resume();
  }

  /**
   * Returns the next slot that this node may forge, possibly in the future; undefined if none of its delegates is
   * active.
   */
  nextSlot(): number | undefined {
    return nextOwnSlot(this.#state, this.#view(), this.#deps.forgingOrder().length);
  }

  /**
   * Forges a slot at once, outside of the loop, which must be paused. Slots that were forged before are
   * refused.
   *
   * @param transactions of the block; by default selected from the pool
   * @throws {SlotRefusedError | Error} with the reason, if there is no block
   */
  async forgeSlot(
    slot: number,
    transactions: readonly SealedTransaction[] = this.#deps.selectTransactions(),
  ): Promise<EncodedBlock> {
    return this.#blocks.forge(this.#ownSlotOrThrow(slot), transactions);
  }

  /**
   * Signs the block of a slot for a caller that puts it on the chain in the same tick of the event loop, and
   * then calls `report`. Slots that were forged before are refused.
   *
   * @throws {Error} with the reason, if there is no block
   */
  sign(slot: number, transactions: readonly SealedTransaction[]): EncodedBlock {
    return this.#blocks.sign(this.#ownSlotOrThrow(slot), transactions);
  }

  /** Reports that a block of `sign` is on the chain. */
  report(block: EncodedBlock): void {
    this.#deps.onForged(block);
  }

  /** Stops forging; settles when the current slot has ended. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Acts on the current slot; resolves to the delay until the next check of the clock. */
  async #takeSlot(): Promise<number> {
    const deps = this.#deps;
    const { slots } = deps;
    if (this.#options.onDemand && !this.#state.isDemanded) return untilSlot(deps, currentSlot(deps) + 1);
    const now = this.#view();
    if (!this.#options.onDemand) this.#followClock(slots.slotAt(slots.timeAt(now.nowMs)), now.nowMs);
    const decision = decide(this.#state, now);
    const { slot } = decision;
    switch (decision.kind) {
      case "foreign":
        this.#state = slotState.foundForeign(this.#state, slot);
        return decision.delayMs;
      case "wait":
        return decision.delayMs;
      case "miss":
        this.#blocks.miss(present(ownSlot(deps, slot), `slot ${slot}`), decision.reason);
        return untilSlot(deps, slot + 1);
      case "forge":
        return this.#tryToForge(present(ownSlot(deps, slot), `slot ${slot}`));
    }
  }

  async #tryToForge(own: OwnSlot): Promise<number> {
    const deps = this.#deps;
    const { slot } = own;
    const headId = deps.head().id;
    const reason = await deps.preflight();
    if (reason !== undefined) {
      this.#state = slotState.hindered(this.#state, { slot, reason });
      return RETRY_MS;
    }
    // The preflight check may have used up the slot, or the head may have changed.
    if (deps.head().id !== headId || !isStillTime(this.#state, slot, this.#view())) return 0;
    await this.#blocks
      .forge(own, deps.selectTransactions())
      .catch((error) => missIfRefused(this.#blocks, error));
    // A block has space for some of the pending transactions only.
    if (this.#options.onDemand && deps.selectTransactions().length > 0) {
      this.#state = slotState.demanded(this.#state);
    }
    return untilSlot(deps, slot + 1);
  }

  /** Explains the slots that passed since the last check, and notes why the current one cannot be forged if its head is in the future. */
  #followClock(slot: number, nowMs: number): void {
    const deps = this.#deps;
    if (slotState.isSetBack(this.#state, slot)) {
      this.#state = slotState.started(this.#state, slot);
      deps.guard.start(this.#state.firstSlot);
    }
    this.#explainSlotsBefore(slot);
    const reason = futureHeadText(deps.head(), nowMs, deps.slots);
    if (reason !== undefined)
      this.#state = slotState.hindered(this.#state, { slot, reason, kind: "head_in_future" });
  }

  /** Records why earlier slots of this node have no block. */
  #explainSlotsBefore(slot: number): void {
    const deps = this.#deps;
    for (const passed of slotState.passedSlots(this.#state, slot, deps.forgingOrder().length)) {
      const own = ownSlot(deps, passed);
      if (!own) continue;
      const kind = slotState.hindranceOf(this.#state, passed)?.kind;
      if (kind !== undefined) deps.guard.refused(own.publicKey, kind);
      this.#blocks.miss(own, slotState.reasonPassed(this.#state, passed));
    }
    this.#state = slotState.explained(this.#state, slot);
  }

  #fail(error: unknown): number {
    const deps = this.#deps;
    const failure = error instanceof Error ? error : new Error(String(error));
    const slot = currentSlot(deps);
    deps.logger.error({ err: failure, slot }, `failed to forge slot ${slot}`);
    deps.onFailed(failure);
    this.#state = slotState.failed(this.#state, failureReason(failure));
    return WRITE_RETRY_MS;
  }

  /** @throws {Error} if the forger is stopped, or the slot belongs to another node */
  #ownSlotOrThrow(slot: number): OwnSlot {
    if (this.#loop.isStopped()) throw new Error(`cannot forge slot ${slot}: the forger is stopped`);
    const own = ownSlot(this.#deps, slot);
    if (!own) throw new Error(`cannot forge slot ${slot}: it belongs to a delegate of another node`);
    return own;
  }

  #view(): SlotView {
    const deps = this.#deps;
    return {
      nowMs: deps.nowMs(),
      headSlot: deps.slots.slotAt(deps.head().timestamp),
      slots: deps.slots,
      timing: this.#options.timing,
      isOurs: (slot) => ownSlot(deps, slot) !== undefined,
    };
  }
}

type Clock = Pick<ForgerDeps, "slots" | "nowMs">;

const currentSlot = ({ slots, nowMs }: Clock): number => slots.slotAt(slots.timeAt(nowMs()));
const untilSlot = ({ slots, nowMs }: Clock, slot: number): number => msUntilSlot(slot, nowMs(), slots);

function missIfRefused(blocks: SlotBlocks, error: unknown): void {
  if (!(error instanceof SlotRefusedError)) throw error;
  blocks.miss(error, error.reason);
}

/** Returns the slot with the keys of its delegate; undefined if the delegate belongs to another node. */
function ownSlot({ forgingOrder, delegates }: ForgerDeps, slot: number): OwnSlot | undefined {
  const order = forgingOrder();
  const publicKey = order[slot % order.length];
  const keys = publicKey === undefined ? undefined : delegates.get(publicKey);
  return publicKey !== undefined && keys ? { slot, publicKey, keys } : undefined;
}
