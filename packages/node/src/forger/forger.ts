/** Forging in the node's own process (forger.md 3 to 6). */

import type { BlockHeader, EncodedBlock, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { WRITE_RETRY_MS } from "../platform/files/disk.ts";
import { present } from "../platform/present.ts";
import type { SlotStore } from "../store/node/slots.ts";
import type { Delegates } from "./delegates.ts";
import { futureHeadText } from "./future-head.ts";
import { createLoop, type Loop } from "./loop.ts";
import type { Guard } from "./signing/guard.ts";
import {
  type BlockPlan,
  createSlotBlocks,
  failureReason,
  type OwnSlot,
  type SlotBlocks,
  SlotRefusedError,
} from "./slot-block.ts";
import { decide, isStillTime, nextOwnSlot, type SlotView } from "./slot-decision.ts";
import type { SlotState } from "./slot-state.ts";
import * as slotState from "./slot-state.ts";
import { msUntilSlot, RETRY_MS, type Timing } from "./timing.ts";

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

export type Forger = {
  start(): void;
  /** Requests a block at the first possible moment. */
  demand(): void;
  /** Pauses forging until `resume`; settles when the current slot has ended. */
  pause(): Promise<void>;
  /** Forges again, beginning with the current slot: slots during the pause were skipped on purpose. */
  resume(): void;
  /**
   * Returns the next slot that this node may forge, possibly in the future; undefined if none of its delegates is
   * active.
   */
  nextSlot(): number | undefined;
  /**
   * Forges a slot at once, outside of the loop, which must be paused. Slots that were forged before are
   * refused.
   *
   * @param transactions of the block; by default selected from the pool
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
  /** Stops forging; settles when the current slot has ended. */
  stop(): Promise<void>;
};

export function createForger(options: ForgerOptions, deps: ForgerDeps): Forger {
  const blocks = createSlotBlocks({
    ...deps,
    submitBlock: (block) => deps.submitBlock(block),
    onSettled: (slot) => {
      work.state = slotState.settled(work.state, slot);
    },
    onSigned: () => {
      work.state = slotState.signed(work.state);
    },
  });
  const loop = createLoop(() => takeSlot(work).catch((error) => fail(work, error)));
  const work: Work = { options, deps, blocks, loop, state: slotState.NOT_STARTED };
  return {
    start() {
      work.state = slotState.started(work.state, currentSlot(deps));
      const { firstSlot } = work.state;
      deps.guard.start(firstSlot);
      deps.onStarted([...deps.delegates.keys()]);
      loop.start(options.onDemand ? 0 : untilSlot(deps, firstSlot));
    },
    demand() {
      work.state = slotState.demanded(work.state);
      if (options.onDemand) loop.runNow();
    },
    pause: loop.pause,
    resume() {
      work.state = slotState.resumed(work.state, currentSlot(deps));
      loop.resume();
    },
    nextSlot: () => nextOwnSlot(work.state, view(work), deps.forgingOrder().length),
    async forgeSlot(slot, transactions = deps.selectTransactions()) {
      return blocks.forge(ownSlotOrThrow(work, slot), transactions);
    },
    sign: (slot, transactions) => blocks.sign(ownSlotOrThrow(work, slot), transactions),
    report: deps.onForged,
    stop: loop.stop,
  };
}

/** The parts of a forger, and the state of its slots. */
type Work = {
  readonly options: ForgerOptions;
  readonly deps: ForgerDeps;
  readonly blocks: SlotBlocks;
  readonly loop: Loop;
  state: SlotState;
};

type Clock = Pick<ForgerDeps, "slots" | "nowMs">;

const currentSlot = ({ slots, nowMs }: Clock): number => slots.slotAt(slots.timeAt(nowMs()));
const untilSlot = ({ slots, nowMs }: Clock, slot: number): number => msUntilSlot(slot, nowMs(), slots);

/** Acts on the current slot; resolves to the delay until the next check of the clock. */
async function takeSlot(work: Work): Promise<number> {
  const { deps, options } = work;
  const { slots } = deps;
  if (options.onDemand && !work.state.isDemanded) return untilSlot(deps, currentSlot(deps) + 1);
  const now = view(work);
  if (!options.onDemand) followClock(work, slots.slotAt(slots.timeAt(now.nowMs)), now.nowMs);
  const decision = decide(work.state, now);
  const { slot } = decision;
  switch (decision.kind) {
    case "foreign":
      work.state = slotState.foundForeign(work.state, slot);
      return decision.delayMs;
    case "wait":
      return decision.delayMs;
    case "miss":
      work.blocks.miss(present(ownSlot(deps, slot), `slot ${slot}`), decision.reason);
      return untilSlot(deps, slot + 1);
    case "forge":
      return tryToForge(work, present(ownSlot(deps, slot), `slot ${slot}`));
  }
}

async function tryToForge(work: Work, own: OwnSlot): Promise<number> {
  const { deps, blocks } = work;
  const { slot } = own;
  const headId = deps.head().id;
  const reason = await deps.preflight();
  if (reason !== undefined) {
    work.state = slotState.hindered(work.state, { slot, reason });
    return RETRY_MS;
  }
  // The preflight check may have used up the slot, or the head may have changed.
  if (deps.head().id !== headId || !isStillTime(work.state, slot, view(work))) return 0;
  await blocks.forge(own, deps.selectTransactions()).catch((error) => missIfRefused(blocks, error));
  // A block has space for some of the pending transactions only.
  if (work.options.onDemand && deps.selectTransactions().length > 0) {
    work.state = slotState.demanded(work.state);
  }
  return untilSlot(deps, slot + 1);
}

function missIfRefused(blocks: SlotBlocks, error: unknown): void {
  if (!(error instanceof SlotRefusedError)) throw error;
  blocks.miss(error, error.reason);
}

/** Explains the slots that passed since the last check, and notes why the current one cannot be forged if its head is in the future. */
function followClock(work: Work, slot: number, nowMs: number): void {
  const { deps } = work;
  if (slotState.isSetBack(work.state, slot)) {
    work.state = slotState.started(work.state, slot);
    deps.guard.start(work.state.firstSlot);
  }
  explainSlotsBefore(work, slot);
  const reason = futureHeadText(deps.head(), nowMs, deps.slots);
  if (reason !== undefined)
    work.state = slotState.hindered(work.state, { slot, reason, kind: "head_in_future" });
}

/** Records why earlier slots of this node have no block. */
function explainSlotsBefore(work: Work, slot: number): void {
  const { deps, blocks } = work;
  for (const passed of slotState.passedSlots(work.state, slot, deps.forgingOrder().length)) {
    const own = ownSlot(deps, passed);
    if (!own) continue;
    const kind = slotState.hindranceOf(work.state, passed)?.kind;
    if (kind !== undefined) deps.guard.refused(own.publicKey, kind);
    blocks.miss(own, slotState.reasonPassed(work.state, passed));
  }
  work.state = slotState.explained(work.state, slot);
}

function fail(work: Work, error: unknown): number {
  const { deps } = work;
  const failure = error instanceof Error ? error : new Error(String(error));
  const slot = currentSlot(deps);
  deps.logger.error({ err: failure, slot }, `failed to forge slot ${slot}`);
  deps.onFailed(failure);
  work.state = slotState.failed(work.state, failureReason(failure));
  return WRITE_RETRY_MS;
}

/** Returns the slot with the keys of its delegate; undefined if the delegate belongs to another node. */
function ownSlot({ forgingOrder, delegates }: ForgerDeps, slot: number): OwnSlot | undefined {
  const order = forgingOrder();
  const publicKey = order[slot % order.length];
  const keys = publicKey === undefined ? undefined : delegates.get(publicKey);
  return publicKey !== undefined && keys ? { slot, publicKey, keys } : undefined;
}

/** @throws {Error} if the forger is stopped, or the slot belongs to another node */
function ownSlotOrThrow({ deps, loop }: Work, slot: number): OwnSlot {
  if (loop.isStopped()) throw new Error(`cannot forge slot ${slot}: the forger is stopped`);
  const own = ownSlot(deps, slot);
  if (!own) throw new Error(`cannot forge slot ${slot}: it belongs to a delegate of another node`);
  return own;
}

const view = ({ deps, options }: Work): SlotView => ({
  nowMs: deps.nowMs(),
  headSlot: deps.slots.slotAt(deps.head().timestamp),
  slots: deps.slots,
  timing: options.timing,
  isOurs: (slot) => ownSlot(deps, slot) !== undefined,
});
