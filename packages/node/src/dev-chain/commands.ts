/**
 * Runs the dev commands, one at a time. Blocks are created by the forger and applied by the chain like all
 * others. Each has a later slot than all blocks before it, and the clock moves forward to this slot: no
 * delegate ever signs two blocks for one slot, even after a revert.
 */
import type { BlockHeader, EncodedBlock, Slots } from "@uniknode/protocol";
import type { Chain } from "../chain/chain.ts";
import type { Forger } from "../forger/forger.ts";
import { type BlockReference, type DevCommand, DevError, type DevResult } from "../gateway/gateway.ts";
import { present } from "../platform/present.ts";
import type { Pool } from "../pool/pool.ts";
import type { DevClock } from "./folder.ts";
import { SETUP_HEIGHT } from "./setup.ts";

/** The parts of a node that the commands drive. */
type DrivenParts = {
  readonly chain: Pick<Chain, "head" | "blocks" | "revertTo" | "forgeFrom" | "subscribe">;
  readonly pool: Pick<Pool, "size" | "clear" | "selectWith">;
  readonly forger: Pick<Forger, "demand" | "pause" | "resume" | "nextSlot" | "forgeSlot" | "sign" | "report">;
  readonly slots: Slots;
};

type RunDevCommand = (command: DevCommand) => Promise<DevResult>;

/** Creates the commands of a node from its parts. */
export type CreateDev = (parts: DrivenParts) => RunDevCommand;

type DevChain = DrivenParts & { readonly clock: DevClock; isForging: boolean };

type Changes = Partial<Pick<DevResult, "reverted" | "applied">>;

/** Start of the year 2100, in seconds since 1970; within the range of block timestamps. */
const LAST_TIME = 4_102_444_800;

/** @throws {DevError} or `ChainError`; a command that fails does not undo its previous steps */
export function createDevCommands(parts: DrivenParts, clock: DevClock): RunDevCommand {
  const dev: DevChain = { ...parts, clock, isForging: true };
  let last: Promise<unknown> = Promise.resolve();
  return (command) => {
    const result = last.then(() => run(dev, command));
    last = result.catch(() => undefined);
    return result;
  };
}

async function run(dev: DevChain, command: DevCommand): Promise<DevResult> {
  const { chain, forger, slots, clock } = dev;
  if (chain.head().height < SETUP_HEIGHT) {
    throw new DevError(
      "DEV_STARTING",
      "the setup blocks of the chain are being forged; try again in a moment",
    );
  }
  // The forger must not add a block between the steps of a command.
  await forger.pause();
  try {
    const { reverted = [], applied = [] } = await perform(dev, command);
    const now = slots.timeAt(clock.nowMs());
    return { head: toReference(chain.head()), reverted, applied, now, isForging: dev.isForging };
  } finally {
    if (dev.isForging) forger.resume();
  }
}

async function perform(dev: DevChain, command: DevCommand): Promise<Changes> {
  switch (command.name) {
    case "mine":
      return { applied: await mine(dev, command.blocks) };
    case "reorg":
      return reorganise(dev, command);
    case "snapshot":
      return {};
    case "restore":
      return restore(dev, command.id);
    case "travel":
      return travel(dev, "to" in command ? command.to * 1000 : dev.clock.nowMs() + command.seconds * 1000);
    case "forge":
      dev.isForging = command.isEnabled;
      return {};
  }
}

async function mine(dev: DevChain, blocks: number): Promise<BlockReference[]> {
  const applied: BlockReference[] = [];
  while (applied.length < blocks) {
    const { header } = await dev.forger.forgeSlot(nextSlot(dev));
    applied.push(toReference(header));
  }
  return applied;
}

/** Returns the next slot that this node can forge, and moves the clock to it. */
function nextSlot({ forger, slots, clock }: DevChain): number {
  const slot = forger.nextSlot();
  if (slot === undefined) {
    throw new DevError("DEV_DELEGATES", "cannot forge: this node has no key of an active delegate");
  }
  clock.moveTo(slots.unixMsOf(slots.slotTime(slot)));
  return slot;
}

async function reorganise(dev: DevChain, command: Extract<DevCommand, { name: "reorg" }>): Promise<Changes> {
  const { chain, pool, forger } = dev;
  const { depth, blocks = depth + 1, withTransactions, leftOut = [] } = command;
  checkBranch(chain.head().height, depth, blocks);
  const commonHeight = chain.head().height - depth;
  const reverted = blocksAbove(chain, commonHeight);
  const made: EncodedBlock[] = [];
  const excluded = new Set(leftOut);
  await chain.forgeFrom(commonHeight, (returned) => {
    if (made.length === blocks) return undefined;
    const block = forger.sign(nextSlot(dev), withTransactions ? pool.selectWith(returned, excluded) : []);
    made.push(block);
    return block;
  });
  for (const block of made) forger.report(block);
  // Transactions that returned to the pool start the forger like newly accepted ones.
  if (pool.size() > 0) forger.demand();
  return { reverted, applied: made.map(({ header }) => toReference(header)) };
}

/** @throws {DevError} */
function checkBranch(height: number, depth: number, blocks: number): void {
  const deepest = height - SETUP_HEIGHT;
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
}

async function restore({ chain, pool }: DevChain, id: string): Promise<Changes> {
  const header = chain.blocks.headerById(id);
  if (!header || header.height < SETUP_HEIGHT) {
    throw new DevError(
      "DEV_SNAPSHOT",
      `block ${id} is not on the chain: a block that was reverted cannot be restored`,
    );
  }
  const reverted = blocksAbove(chain, header.height);
  await chain.revertTo(header.height);
  pool.clear();
  return { reverted };
}

/** Returns the blocks above a height, by descending height. */
function blocksAbove(chain: DrivenParts["chain"], height: number): BlockReference[] {
  const blocks: BlockReference[] = [];
  for (let top = chain.head().height; top > height; top--) {
    blocks.push(toReference(present(chain.blocks.header(top), `block ${top}`)));
  }
  return blocks;
}

function travel({ clock }: DevChain, toMs: number): Changes {
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

const toReference = ({ height, id, timestamp }: BlockHeader): BlockReference => ({ height, id, timestamp });
