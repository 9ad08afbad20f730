/**
 * Runs the dev commands, one at a time. Blocks are created by the forger and applied by the chain like all
 * others. Each has a later slot than all blocks before it, and the clock moves forward to this slot: no
 * delegate ever signs two blocks for one slot, even after a revert.
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
    /** Selects transactions for a block of another branch, from the reverted blocks and the pending ones. */
    readonly selectWith: (
      returned: readonly SealedTransaction[],
      leftOut: ReadonlySet<string>,
    ) => SealedTransaction[];
  };
  readonly forger: Pick<Forger, "demand" | "pause" | "resume" | "nextSlot" | "forgeSlot" | "sign" | "report">;
  readonly slots: Slots;
};

export type RunVerb = (command: DevCommand) => Promise<DevAnswer>;

/** Creates the verbs of a node from its parts. */
export type CreateDev = (parts: DrivenParts) => RunVerb;

type Changes = Partial<Pick<DevAnswer, "reverted" | "applied">>;

/** Start of the year 2100, in seconds since 1970; within the range of block timestamps. */
const LAST_TIME = 4_102_444_800;

/** @throws {DevError} or `ChainError`; a verb that fails does not undo its previous steps */
export function createVerbs({ chain, pool, forger, slots }: DrivenParts, clock: DevClock): RunVerb {
  let isForging = true;
  let last: Promise<unknown> = Promise.resolve();

  async function run(command: DevCommand): Promise<DevAnswer> {
    if (chain.head().height < SETUP_HEIGHT) {
      throw new DevError(
        "DEV_STARTING",
        "the setup blocks of the chain are being forged; try again in a moment",
      );
    }
    // The forger must not add a block between the steps of a verb.
    await forger.pause();
    try {
      const { reverted = [], applied = [] } = await perform(command);
      const now = slots.timeAt(clock.nowMs());
      return { head: toReference(chain.head()), reverted, applied, now, isForging };
    } finally {
      if (isForging) forger.resume();
    }
  }

  async function perform(command: DevCommand): Promise<Changes> {
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
      applied.push(toReference(header));
    }
    return applied;
  }

  /** The next slot that this node can forge; moves the clock to it. */
  function nextSlot(): number {
    const slot = forger.nextSlot();
    if (slot === undefined) {
      throw new DevError("DEV_DELEGATES", "cannot forge: this node has no key of an active delegate");
    }
    clock.moveTo(slots.unixMsOf(slots.slotTime(slot)));
    return slot;
  }

  async function reorganise({
    depth,
    blocks = depth + 1,
    withTransactions,
    leftOut = [],
  }: Extract<DevCommand, { verb: "reorg" }>): Promise<Changes> {
    const deepest = chain.head().height - SETUP_HEIGHT;
    if (depth > deepest) {
      throw new DevError(
        "DEV_DEPTH",
        `depth must be at most ${deepest}: a branch cannot start below height ${SETUP_HEIGHT}`,
      );
    }
    if (blocks <= depth) {
      throw new DevError(
        "DEV_BRANCH",
        `the new branch must be longer than the reverted blocks: more than ${depth} blocks`,
      );
    }
    const commonHeight = chain.head().height - depth;
    const reverted = blocksAbove(commonHeight);
    const made: EncodedBlock[] = [];
    const excluded = new Set(leftOut);
    await chain.forgeFrom(commonHeight, (returned) => {
      if (made.length === blocks) return undefined;
      const block = forger.sign(nextSlot(), withTransactions ? pool.selectWith(returned, excluded) : []);
      made.push(block);
      return block;
    });
    for (const block of made) forger.report(block);
    // Transactions that returned to the pool start the forger like newly accepted ones.
    if (pool.size() > 0) forger.demand();
    return { reverted, applied: made.map(({ header }) => toReference(header)) };
  }

  async function restore(id: string): Promise<Changes> {
    const header = chain.blocks.headerById(id);
    if (!header || header.height < SETUP_HEIGHT) {
      throw new DevError(
        "DEV_SNAPSHOT",
        `block ${id} is not on the chain: a block that was reverted cannot be restored`,
      );
    }
    const reverted = await revertTo(header.height);
    pool.clear();
    return { reverted };
  }

  async function revertTo(height: number): Promise<BlockReference[]> {
    const reverted = blocksAbove(height);
    await chain.revertTo(height);
    return reverted;
  }

  /** The blocks above a height, by descending height. */
  function blocksAbove(height: number): BlockReference[] {
    const blocks: BlockReference[] = [];
    for (let top = chain.head().height; top > height; top--) {
      blocks.push(toReference(chain.blocks.header(top)!));
    }
    return blocks;
  }

  function travel(toMs: number): Changes {
    if (toMs < clock.nowMs()) {
      const now = Math.ceil(clock.nowMs() / 1000);
      throw new DevError("DEV_TIME", `the clock cannot be moved back: the time of the chain is ${now}`);
    }
    if (toMs > LAST_TIME * 1000) {
      throw new DevError("DEV_TIME", `the clock cannot be moved beyond ${LAST_TIME}, the year 2100`);
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

const toReference = ({ height, id, timestamp }: BlockHeader): BlockReference => ({ height, id, timestamp });
