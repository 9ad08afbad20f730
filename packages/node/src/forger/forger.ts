/** Forging in the node's own process (forger.md 3 to 6). */
import type { BlockHeader, EncodedBlock, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { WRITE_RETRY_MS } from "../platform/files/disk-trouble.ts";
import type { SlotStore } from "../store/node/slots.ts";
import type { Delegates } from "./delegates.ts";
import { createLoop } from "./loop.ts";
import type { Guard } from "./signing/guard.ts";
import { SlotRefusedError } from "./signing/refusal.ts";
import { type BlockPlan, createSlotBlocks, failureReason, type OwnSlot } from "./slot-block.ts";
import { decide, isStillTime, nextOwnSlot } from "./slot-decision.ts";
import * as slotState from "./slot-state.ts";
import { msUntilSlot, RETRY_MS, type Timing } from "./timing.ts";

export type ForgerOptions = {
  readonly timing: Timing;
  /** Forge only on demand, and then at the first possible moment. */
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
  submit: (block: EncodedBlock) => Promise<string | undefined>;
  /**
   * Returns the reason why no block may be forged now, if any (for instance while catching up). It may take a
   * while.
   */
  preflight: () => string | undefined | Promise<string | undefined>;
  onStarted: (publicKeys: readonly string[]) => void;
  onForged: (block: EncodedBlock) => void;
  onFailed: (error: Error) => void;
  nowMs: () => number;
  logger: Logger;
};

export type Forger = {
  start(): void;
  /** Requests a block at the first possible moment. */
  demand(): void;
  /** No slot is forged until `resume`; settles when the current slot has ended. */
  pause(): Promise<void>;
  /** Forges again, beginning with the current slot: slots during the pause were skipped on purpose. */
  resume(): void;
  /**
   * The first slot that may be forged next, possibly in the future; undefined if no active delegate belongs
   * to this node.
   */
  nextSlot(): number | undefined;
  /**
   * Forges a slot at once, outside of the loop, which must be paused. Slots that were forged before are
   * refused.
   *
   * @param transactions of the block; by default those of the pool
   * @throws {SlotRefusedError | Error} with the reason, if there is no block
   */
  forgeSlot(slot: number, transactions?: readonly SealedTransaction[]): Promise<EncodedBlock>;
  /**
   * Signs the block of a slot for a caller that puts it on the chain in the same tick of the event loop, and
   * then calls `report`. Slots that were forged before are refused.
   *
   * @throws {Error} with the reason, if there is no block
   */
  sign(slot: number, transactions: readonly SealedTransaction[]): EncodedBlock;
  /** Reports that a block of `sign` is on the chain. */
  report(block: EncodedBlock): void;
  /** Settles when the current slot has ended; no other slot is forged. */
  stop(): Promise<void>;
};

export function createForger(options: ForgerOptions, deps: ForgerDeps): Forger {
  const { slots, guard, nowMs } = deps;
  const { timing, onDemand } = options;
  let state = slotState.NOT_STARTED;
  const blocks = createSlotBlocks({
    ...deps,
    submit: (block) => deps.submit(block),
    onSettled: (slot) => {
      state = slotState.settled(state, slot);
    },
    onSigned: () => {
      state = slotState.signed(state);
    },
  });
  const loop = createLoop(() => takeSlot().catch(fail));

  const currentSlot = () => slots.slotAt(slots.timeAt(nowMs()));
  const untilSlot = (slot: number) => msUntilSlot(slot, nowMs(), slots);
  const ownSlot = (slot: number): OwnSlot | undefined => {
    const order = deps.forgingOrder();
    const publicKey = order[slot % order.length];
    const keys = publicKey === undefined ? undefined : deps.delegates.get(publicKey);
    return publicKey !== undefined && keys ? { slot, publicKey, keys } : undefined;
  };
  const isOurs = (slot: number) => ownSlot(slot) !== undefined;
  const view = () => ({
    nowMs: nowMs(),
    headSlot: slots.slotAt(deps.head().timestamp),
    slots,
    timing,
    isOurs,
  });

  /** @throws {Error} if no delegate of this node may forge the slot */
  function ownSlotOrThrow(slot: number): OwnSlot {
    const own = loop.isStopped() ? undefined : ownSlot(slot);
    if (!own) throw new Error(`this node cannot forge slot ${slot}`);
    return own;
  }

  /** Acts on the current slot; resolves to the delay until the next check of the clock. */
  async function takeSlot(): Promise<number> {
    if (onDemand && !state.isDemanded) return untilSlot(currentSlot() + 1);
    const now = view();
    if (!onDemand) explainSlotsBefore(slots.slotAt(slots.timeAt(now.nowMs)));
    const decision = decide(state, now);
    const { slot } = decision;
    switch (decision.kind) {
      case "foreign":
        state = slotState.foundForeign(state, slot);
        return decision.delayMs;
      case "wait":
        return decision.delayMs;
      case "miss":
        blocks.miss(ownSlot(slot)!, decision.reason);
        return untilSlot(slot + 1);
      case "forge":
        return tryToForge(ownSlot(slot)!);
    }
  }

  async function tryToForge(own: OwnSlot): Promise<number> {
    const { slot } = own;
    const headId = deps.head().id;
    const reason = await deps.preflight();
    if (reason !== undefined) {
      state = slotState.hindered(state, slot, reason);
      return RETRY_MS;
    }
    // The preflight check may have used up the slot, or the head may have changed.
    if (deps.head().id !== headId || !isStillTime(state, slot, view())) return 0;
    await blocks.forge(own, deps.selectTransactions()).catch(missIfRefused);
    return untilSlot(slot + 1);
  }

  function missIfRefused(error: unknown): void {
    if (!(error instanceof SlotRefusedError)) throw error;
    blocks.miss(error, error.reason);
  }

  function explainSlotsBefore(slot: number): void {
    for (const passed of slotState.passedSlots(state, slot, deps.forgingOrder().length)) {
      const own = ownSlot(passed);
      if (own) blocks.miss(own, slotState.reasonPassed(state, passed));
    }
    state = slotState.explained(state, slot);
  }

  function fail(error: unknown): number {
    const failure = error instanceof Error ? error : new Error(String(error));
    deps.logger.error({ err: failure }, "forging failed");
    deps.onFailed(failure);
    state = slotState.failed(state, failureReason(failure));
    return WRITE_RETRY_MS;
  }

  return {
    start() {
      state = slotState.started(state, currentSlot());
      guard.start(state.firstSlot);
      deps.onStarted([...deps.delegates.keys()]);
      loop.start(onDemand ? 0 : untilSlot(state.firstSlot));
    },
    demand() {
      state = slotState.demanded(state);
      if (onDemand) loop.runNow();
    },
    pause: loop.pause,
    resume() {
      state = slotState.resumed(state, currentSlot());
      loop.resume();
    },
    nextSlot: () => nextOwnSlot(state, view(), deps.forgingOrder().length),
    async forgeSlot(slot, transactions = deps.selectTransactions()) {
      return blocks.forge(ownSlotOrThrow(slot), transactions);
    },
    sign: (slot, transactions) => blocks.sign(ownSlotOrThrow(slot), transactions),
    report: deps.onForged,
    stop: loop.stop,
  };
}
