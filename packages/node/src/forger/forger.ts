/** Forging in the node's own process (forger.md 3 to 6). */
import type { BlockHeader, EncodedBlock, KeyPair, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { troubleOf } from "../store/engine/writes.ts";
import type { SlotStore } from "../store/node/slots.ts";
import type { Delegates } from "./delegates.ts";
import type { Guard } from "./signing/guard.ts";
import { SlotRefusedError } from "./signing/refusal.ts";
import { momentAt, msUntilSlot, RETRY_MS, type Timing } from "./timing.ts";

/** What a block is made of besides what the head says. */
export type BlockPlan = {
  readonly slot: number;
  readonly transactions: readonly SealedTransaction[];
  readonly keys: KeyPair;
};

export type ForgerOptions = {
  readonly timing: Timing;
  /** Forge only when asked to, and then at the first possible moment. */
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
  /** Gives a block to the chain; the answer is why it was not taken, if it was not. */
  submit: (block: EncodedBlock) => Promise<string | undefined>;
  /** Why no block may be forged now, if so (for instance while catching up). It may take a while to find out. */
  obstacle: () => string | undefined | Promise<string | undefined>;
  onStarted: (publicKeys: readonly string[]) => void;
  onForged: (block: EncodedBlock) => void;
  onFailed: (error: Error) => void;
  nowMs: () => number;
  logger: Logger;
};

export type Forger = {
  start(): void;
  /** Asks for a block at the first possible moment. */
  demand(): void;
  /** No turn begins until `resume`; settles when the turn under way has ended. */
  pause(): Promise<void>;
  /** Takes turns again, from the current slot on: those of the pause were left out on purpose. */
  resume(): void;
  /** The first slot that may be forged next, be it in the future; absent where no active delegate is of this node. */
  nextSlot(): number | undefined;
  /**
   * Forges a slot at once, outside of the turns, which must be paused. Slots that were forged before stay refused.
   *
   * @param transactions of the block; those of the pool unless given
   * @throws {SlotRefusedError | Error} saying why, if there is no such block
   */
  forgeSlot(slot: number, transactions?: readonly SealedTransaction[]): Promise<EncodedBlock>;
  /**
   * Signs the block of a slot for whoever puts it on the chain in this very turn of the event loop, and says so with
   * `report`. Slots that were forged before stay refused.
   *
   * @throws {Error} saying why, if there is no such block
   */
  sign(slot: number, transactions: readonly SealedTransaction[]): EncodedBlock;
  /** A block of `sign` is on the chain. */
  report(block: EncodedBlock): void;
  /** Settles when the turn under way has ended; no other begins. */
  stop(): Promise<void>;
};

type Delegate = { readonly publicKey: string; readonly keys: KeyPair };

/** A late block may open a round, by whose order the slot is ours after all; a clock that is behind may be set right. */
const LOOK_AGAIN_MS = 500;
/** Pause after a failure. */
const FAILURE_PAUSE_MS = 2_000;

export function createForger(options: ForgerOptions, deps: ForgerDeps): Forger {
  const { slots, slotStore, guard, logger } = deps;
  /**
   * The first slot that this process may forge: the one after the slot it starts in. So even a process that knows
   * nothing of what was forged before never forges one slot twice, unless the clock went back.
   */
  let firstSlot = 0;
  /** Every slot up to this one is forged, or its reason is recorded. */
  let settledSlot = 0;
  /** The last slot that was found to be somebody else's. */
  let foreignSlot = -1;
  /** What spoke against forging a slot when it was tried last. */
  let hindrance: { readonly slot: number; readonly reason: string } | undefined;
  /** The failure after which the forger pauses: slots that go by meanwhile are missed because of it. */
  let pauseReason: string | undefined;
  let demanded = false;
  let started = false;
  let paused = false;
  let stopped = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();

  const slotOf = (header: BlockHeader) => slots.slotAt(header.timestamp);
  const currentSlot = () => slots.slotAt(slots.timeAt(deps.nowMs()));
  const delegateOf = (slot: number) => {
    const order = deps.forgingOrder();
    const publicKey = order[slot % order.length];
    const keys = publicKey === undefined ? undefined : deps.delegates.get(publicKey);
    return publicKey !== undefined && keys ? { publicKey, keys } : undefined;
  };

  /** @throws {Error} if no delegate of this node may forge the slot */
  function delegateFor(slot: number): Delegate {
    const delegate = stopped ? undefined : delegateOf(slot);
    if (!delegate) throw new Error(`slot ${slot} is not one that this node can forge`);
    return delegate;
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!started || paused || stopped) return;
    timer = setTimeout(() => {
      running = true;
      turn = takeTurn()
        .catch(fail)
        .then((nextDelayMs) => {
          running = false;
          schedule(nextDelayMs);
        });
    }, delayMs);
  }

  /** The delay until the next turn. */
  async function takeTurn(): Promise<number> {
    if (options.onDemand && !demanded) return msUntilSlot(currentSlot() + 1, deps.nowMs(), slots);
    const moment = momentAt(
      deps.nowMs(),
      Math.max(slotOf(deps.head()), firstSlot - 1),
      slots,
      options.timing,
    );
    const nextSlot = () => msUntilSlot(moment.slot + 1, deps.nowMs(), slots);
    if (!options.onDemand) explainSlotsBefore(moment.slot);
    const delegate = delegateOf(moment.slot);
    if (!delegate) {
      foreignSlot = moment.slot;
      return Math.min(nextSlot(), LOOK_AGAIN_MS);
    }
    if (moment.slot <= settledSlot) return nextSlot();
    if (moment.kind === "wait") return Math.min(moment.delayMs, LOOK_AGAIN_MS);
    if (moment.kind === "late") {
      miss(moment.slot, delegate.publicKey, hindranceOf(moment.slot) ?? "too little of the slot was left");
      return nextSlot();
    }
    const headId = deps.head().id;
    const reason = await deps.obstacle();
    if (reason !== undefined) {
      hindrance = { slot: moment.slot, reason };
      return RETRY_MS;
    }
    // What was asked may have taken the rest of the slot, or have brought another head.
    if (deps.head().id !== headId || !isStillTime(moment.slot)) return 0;
    await forge(moment.slot, delegate, deps.selectTransactions()).catch(missIfRefused);
    return nextSlot();
  }

  /** Why the slot could not be forged so far, if it was tried. */
  const hindranceOf = (slot: number) => (hindrance?.slot === slot ? hindrance.reason : undefined);

  function isStillTime(slot: number): boolean {
    const after = Math.max(slotOf(deps.head()), firstSlot - 1);
    const moment = momentAt(deps.nowMs(), after, slots, options.timing);
    return moment.kind === "forge" && moment.slot === slot;
  }

  /** @throws {SlotRefusedError} */
  function sign(
    slot: number,
    { publicKey, keys }: Delegate,
    transactions: readonly SealedTransaction[],
  ): EncodedBlock {
    settledSlot = slot;
    const refusal = guard.refusalOf(publicKey, slot);
    if (refusal) {
      guard.refused(publicKey, refusal.kind);
      throw new SlotRefusedError(slot, publicKey, refusal);
    }
    const block = deps.build({ slot, transactions, keys });
    // On disk before anybody can see the block.
    guard.signed(block.header);
    demanded = false;
    return block;
  }

  /**
   * The block that was taken.
   *
   * @throws {SlotRefusedError}
   */
  async function forge(
    slot: number,
    delegate: Delegate,
    transactions: readonly SealedTransaction[],
  ): Promise<EncodedBlock> {
    let block: EncodedBlock;
    let refusal: string | undefined;
    try {
      block = sign(slot, delegate, transactions);
      refusal = await deps.submit(block);
    } catch (error) {
      if (!(error instanceof SlotRefusedError)) miss(slot, delegate.publicKey, failureReason(error));
      throw error;
    }
    if (refusal !== undefined) {
      slotStore.recordMissed(delegate.publicKey, slot, `the block was refused: ${refusal}`);
      throw new Error(`forged block ${block.header.id} was refused: ${refusal}`);
    }
    deps.onForged(block);
    return block;
  }

  function missIfRefused(error: unknown): void {
    if (!(error instanceof SlotRefusedError)) throw error;
    miss(error.slot, error.publicKey, error.reason);
  }

  function miss(slot: number, publicKey: string, reason: string): void {
    settledSlot = slot;
    slotStore.recordMissed(publicKey, slot, reason);
    logger.warn({ slot, publicKey, reason }, "slot missed");
  }

  /** Slots that went by between two turns: the process was asleep or busy. At most one round is looked at. */
  function explainSlotsBefore(slot: number): void {
    const from = Math.max(settledSlot + 1, firstSlot, slot - deps.forgingOrder().length);
    for (let passed = from; passed < slot; passed++) {
      // Whose it was is known from then: the order of a new round says nothing of it.
      if (passed === foreignSlot) continue;
      const delegate = delegateOf(passed);
      const reason = hindranceOf(passed) ?? pauseReason ?? "the node was busy or asleep during the slot";
      if (delegate) miss(passed, delegate.publicKey, reason);
    }
    pauseReason = undefined;
    settledSlot = Math.max(settledSlot, slot - 1);
  }

  function fail(error: unknown): number {
    const failure = error instanceof Error ? error : new Error(String(error));
    logger.error({ err: failure }, "forging failed");
    deps.onFailed(failure);
    pauseReason = failureReason(failure);
    return FAILURE_PAUSE_MS;
  }

  return {
    start() {
      started = true;
      firstSlot = currentSlot() + 1;
      settledSlot = firstSlot - 1;
      guard.start(firstSlot);
      deps.onStarted([...deps.delegates.keys()]);
      schedule(options.onDemand ? 0 : msUntilSlot(firstSlot, deps.nowMs(), slots));
    },
    demand() {
      demanded = true;
      // A turn under way schedules the next one itself.
      if (options.onDemand && !running) schedule(0);
    },
    async pause() {
      paused = true;
      clearTimeout(timer);
      await turn;
    },
    resume() {
      paused = false;
      settledSlot = Math.max(settledSlot, currentSlot() - 1);
      schedule(0);
    },
    nextSlot() {
      const first = Math.max(currentSlot(), firstSlot, settledSlot + 1, slotOf(deps.head()) + 1);
      return deps
        .forgingOrder()
        .map((_, index) => first + index)
        .find(delegateOf);
    },
    async forgeSlot(slot, transactions = deps.selectTransactions()) {
      return forge(slot, delegateFor(slot), transactions);
    },
    sign(slot, transactions) {
      return sign(slot, delegateFor(slot), transactions);
    },
    report: deps.onForged,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}

function failureReason(error: unknown): string {
  const trouble = troubleOf(error);
  if (trouble) return `the block could not be written: ${trouble}`;
  return `the block could not be made: ${error instanceof Error ? error.message : String(error)}`;
}
