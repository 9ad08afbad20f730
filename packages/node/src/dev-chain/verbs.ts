/**
 * The verbs of the dev chain, one after another. Blocks are made by the forger and taken by the chain as all others
 * are. Each stands in a slot of its own later than all before, for which the clock moves on: no delegate ever signs
 * two blocks for one slot, whatever was reverted.
 */
import type { BlockHeader, EncodedBlock, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Chain } from "../chain/chain.ts";
import type { Forger } from "../forger/forger.ts";
import { type BlockReference, type DevAnswer, type DevCommand, DevError } from "../gateway/dev-commands.ts";
import type { Pool } from "../pool/pool.ts";
import type { DevClock } from "./clock.ts";
import { SETUP_HEIGHT } from "./setup.ts";

/** The parts of a node that the verbs drive. */
export type DrivenParts = {
  readonly chain: Pick<Chain, "head" | "blocks" | "revertTo" | "forgeFrom" | "subscribe">;
  readonly pool: Pick<Pool, "size" | "clear"> & {
    /** Transactions for a block of another branch, of those that leave with the old one and those that are pending. */
    readonly selectWith: (returned: readonly SealedTransaction[]) => SealedTransaction[];
  };
  readonly forger: Pick<Forger, "demand" | "pause" | "resume" | "nextSlot" | "forgeSlot" | "sign" | "report">;
  readonly slots: Slots;
};

export type RunVerb = (command: DevCommand) => Promise<DevAnswer>;

/** Gives the parts of a node that is being built to whoever will drive them. */
export type CreateDev = (parts: DrivenParts) => RunVerb;

type Happened = Partial<Pick<DevAnswer, "reverted" | "applied">>;

/** Seconds since 1970 of the year 2100: block timestamps have room beyond it. */
const LAST_TIME = 4_102_444_800;

/** @throws {DevError} or `ChainError`; what a verb has done before it failed stands */
export function createVerbs({ chain, pool, forger, slots }: DrivenParts, clock: DevClock): RunVerb {
  let isForging = true;
  let last: Promise<unknown> = Promise.resolve();

  async function run(command: DevCommand): Promise<DevAnswer> {
    if (chain.head().height < SETUP_HEIGHT) {
      throw new DevError(
        "DEV_STARTING",
        "the first blocks of the chain are being made; ask again in a moment",
      );
    }
    // No turn of the forger comes between what belongs together.
    await forger.pause();
    try {
      const { reverted = [], applied = [] } = await perform(command);
      const now = slots.timeAt(clock.nowMs());
      return { head: referenceTo(chain.head()), reverted, applied, now, isForging };
    } finally {
      if (isForging) forger.resume();
    }
  }

  async function perform(command: DevCommand): Promise<Happened> {
    switch (command.verb) {
      case "mine":
        return { applied: await mine(command.blocks) };
      case "reorg":
        return reorganise(command);
      case "snapshot":
        return {};
      case "restore":
        return restore(command.id);
      case "travel":
        return travel("to" in command ? command.to * 1000 : clock.nowMs() + command.seconds * 1000);
      case "forge":
        isForging = command.isEnabled;
        return {};
    }
  }

  async function mine(blocks: number): Promise<BlockReference[]> {
    const applied: BlockReference[] = [];
    while (applied.length < blocks) {
      const { header } = await forger.forgeSlot(nextSlot());
      applied.push(referenceTo(header));
    }
    return applied;
  }

  /** The first slot that this node may forge, to which the clock moves on. */
  function nextSlot(): number {
    const slot = forger.nextSlot();
    if (slot === undefined) {
      throw new DevError("DEV_DELEGATES", "this node has the key of no active delegate: it cannot forge");
    }
    clock.moveTo(slots.unixMsOf(slots.slotTime(slot)));
    return slot;
  }

  async function reorganise({
    depth,
    blocks = depth + 1,
    withTransactions,
  }: Extract<DevCommand, { verb: "reorg" }>): Promise<Happened> {
    const deepest = chain.head().height - SETUP_HEIGHT;
    if (depth > deepest) {
      throw new DevError(
        "DEV_DEPTH",
        `a branch may begin at height ${SETUP_HEIGHT} or above: the depth can be ${deepest} at most`,
      );
    }
    if (blocks <= depth) {
      throw new DevError("DEV_BRANCH", `the other branch must be longer: more than ${depth} blocks`);
    }
    const commonHeight = chain.head().height - depth;
    const reverted = downTo(commonHeight);
    const made: EncodedBlock[] = [];
    await chain.forgeFrom(commonHeight, (returned) => {
      if (made.length === blocks) return undefined;
      const block = forger.sign(nextSlot(), withTransactions ? pool.selectWith(returned) : []);
      made.push(block);
      return block;
    });
    for (const block of made) forger.report(block);
    // What came back waits as if it had just been accepted.
    if (pool.size() > 0) forger.demand();
    return { reverted, applied: made.map(({ header }) => referenceTo(header)) };
  }

  async function restore(id: string): Promise<Happened> {
    const header = chain.blocks.headerById(id);
    if (!header || header.height < SETUP_HEIGHT) {
      throw new DevError(
        "DEV_SNAPSHOT",
        `block ${id} is not on the chain: there is no way back to a block that was reverted itself`,
      );
    }
    const reverted = await revertTo(header.height);
    pool.clear();
    return { reverted };
  }

  async function revertTo(height: number): Promise<BlockReference[]> {
    const reverted = downTo(height);
    await chain.revertTo(height);
    return reverted;
  }

  /** The blocks above a height, from the top down. */
  function downTo(height: number): BlockReference[] {
    const blocks: BlockReference[] = [];
    for (let top = chain.head().height; top > height; top--) {
      blocks.push(referenceTo(chain.blocks.header(top)!));
    }
    return blocks;
  }

  function travel(toMs: number): Happened {
    if (toMs < clock.nowMs()) {
      const now = Math.ceil(clock.nowMs() / 1000);
      throw new DevError("DEV_TIME", `the clock does not go back: it is ${now} already`);
    }
    if (toMs > LAST_TIME * 1000) {
      throw new DevError("DEV_TIME", `the clock does not go beyond ${LAST_TIME}, the year 2100`);
    }
    clock.moveTo(toMs);
    return {};
  }

  return (command) => {
    const answer = last.then(() => run(command));
    last = answer.catch(() => undefined);
    return answer;
  };
}

const referenceTo = ({ height, id, timestamp }: BlockHeader): BlockReference => ({ height, id, timestamp });
