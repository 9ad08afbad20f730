/** Receives blocks that peers post, and blocks of this node's own forger (p2p.md 7.5 and 11). */
import { isChained, type StateReader } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  type BlockHeader,
  decodeHeader,
  delegateOfSlot,
  type EncodedBlock,
  headerSignatureJob,
  isBlockException,
  type Network,
  payloadHashOf,
  type Rounds,
  type Slots,
  verifyHeaderJob,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import { type Outcome, refusalOf } from "../chain/outcome.ts";
import { type ReceivedBlock, receiveBlockGradually } from "../chain/pipeline/receive.ts";
import { networkTiming } from "../forger/timing.ts";
import { deleteOldest } from "../platform/bounded-entries.ts";
import { present } from "../platform/present.ts";
import { createTimeSlices, type TimeSlices } from "../platform/threads/time-slices.ts";
import type { BlockObservations } from "./block-broadcast.ts";
import { createWindowCounter, type WindowCounter } from "./guards/window.ts";
import { type Caller, ReplyError } from "./transport/calls.ts";
import { MESSAGE_SLICE_MS } from "./wire/limits.ts";
import { blockNotChained, tooManyTransactions } from "./wire/server-messages.ts";

export type InboundBlocksDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Pick<Chain, "accept" | "head" | "state">;
  readonly observations: BlockObservations;
  readonly doubleForging: DoubleForging;
  readonly broadcast: (block: EncodedBlock) => void;
  /** Returns true if the node has been in sync with the network since its start (p2p.md 11 point 4). */
  readonly isStarted: () => boolean;
  /** Called when a block passed the first checks and is queued for the chain. */
  readonly onReceived: (block: Block) => void;
  /** Called when a block passed the first checks but is ignored, because the node is not in sync yet. */
  readonly onDisregarded: (block: Block) => void;
  /** Called when a block does not continue the head: its sender is ahead of this node, or on another branch. */
  readonly onUnchained: (header: BlockHeader, caller: Caller) => void;
  readonly ban: (address: string, reason: string) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type InboundBlocks = {
  /**
   * Receives a block of another node; settles before the chain has accepted or refused it.
   *
   * @throws {ReplyError} if it does not continue the chain
   * @throws {BlockError | TransactionError} if it cannot be read
   */
  post(bytes: Uint8Array, caller: Caller): Promise<void>;
  /** Submits a block of this node's own forger. Settles with the reason if the chain refuses it. */
  submitBlock(block: EncodedBlock): Promise<string | undefined>;
};

/**
 * Maximum number of blocks of one delegate for one slot that are submitted to the chain. An honest delegate
 * forges one. An attacker with the keys may sign many full blocks, each of which costs as much as a real one.
 */
const BLOCKS_PER_SLOT = { events: 3, windowMs: 600_000 };

type State = {
  readonly deps: InboundBlocksDeps;
  /** Counts the blocks of each delegate and slot. */
  readonly submitted: WindowCounter;
  /** A block of a separate forger is too late when less of its slot remains. */
  readonly minRemainingMs: number;
  /** Decodes the transactions of posted blocks. */
  readonly slices: TimeSlices;
  /** Settles when the posts so far are processed: the next one may be the same block, or continue it. */
  posted: Promise<void>;
  /** Header of the block that the chain is executing: the next block may continue it. */
  inFlight: BlockHeader | undefined;
};

export function createInboundBlocks(deps: InboundBlocksDeps): InboundBlocks {
  const state: State = {
    deps,
    submitted: createWindowCounter(BLOCKS_PER_SLOT),
    minRemainingMs: networkTiming(deps.slots.blocktime).minRemainingMs,
    slices: createTimeSlices({ sliceMs: MESSAGE_SLICE_MS }),
    posted: Promise.resolve(),
    inFlight: undefined,
  };
  return {
    post(bytes, caller) {
      const result = state.posted.then(() => post(state, bytes, caller));
      state.posted = result.catch(() => {});
      return result;
    },
    async submitBlock(block) {
      deps.observations.begin(block.header, performance.now(), 0);
      return refusalOf(await process(state, block));
    },
  };
}

/** The header decides: the transactions of blocks that no delegate signed are not decoded. */
async function post(state: State, bytes: Uint8Array, caller: Caller): Promise<void> {
  const { network, observations, isStarted, onDisregarded, logger } = state.deps;
  const { header } = decodeHeader(bytes, network);
  checkCount(state, header);
  if (!isAcceptable(state, header, caller)) return;
  const block = await state.slices.run(receiveBlockGradually(bytes, network), caller.address);
  if (!isWhole(state, block, caller)) return;
  if (!isStarted()) return onDisregarded(block);
  observations.begin(block.header, performance.now(), caller.isTrusted ? 0 : 1);
  // The reply does not wait for the chain.
  process(state, block).catch((err) => logger.error({ err }, "failed to process a posted block"));
}

function checkCount({ deps: { network, chain } }: State, header: BlockHeader): void {
  const { maxTransactions } = network.milestoneAt(chain.head().height).block;
  if (header.numberOfTransactions > maxTransactions) throw new ReplyError(tooManyTransactions(header));
}

/** Performs steps 1 to 3 for a block of another node; returns false if the block must be ignored. */
function isAcceptable(
  { deps, inFlight, minRemainingMs }: State,
  header: BlockHeader,
  caller: Caller,
): boolean {
  const { slots, chain, observations } = deps;
  const head = inFlight ?? chain.head();
  if (!caller.isTrusted && observations.count(header, performance.now())) return false;
  deps.doubleForging.check(header);
  if (!caller.isTrusted && !isChained(header, { head, slots })) {
    deps.onUnchained(header, caller);
    throw new ReplyError(blockNotChained(header.height, head.height));
  }
  const slot = slots.slotAt(header.timestamp);
  if (slot > currentSlot(deps)) return false;
  if (caller.isTrusted) return slot === currentSlot(deps) && remainingMs(deps, slot) >= minRemainingMs;
  return isFromDelegate(deps, header, head, caller);
}

const currentSlot = ({ slots, nowMs }: InboundBlocksDeps): number => slots.slotAt(slots.timeAt(nowMs()));

const remainingMs = ({ slots, nowMs }: InboundBlocksDeps, slot: number): number =>
  slots.unixMsOf(slots.slotTime(slot + 1)) - nowMs();

/**
 * Returns true if the delegate of the slot has signed a header that continues `below`. Bans the sender of a header
 * that no delegate signed.
 */
function isFromDelegate(
  deps: InboundBlocksDeps,
  header: BlockHeader,
  below: BlockHeader,
  caller: Caller,
): boolean {
  const { height, id } = header;
  const isSigned = verifyHeaderJob(headerSignatureJob(header, deps.network)) === "valid";
  if (isSigned && isOfSlotDelegate(deps, header, below)) return true;
  if (isSigned && isOfDelegate(deps, header)) {
    deps.logger.warn(
      { height, id, sender: caller.address },
      "block ignored: its generator is not the delegate of the slot",
    );
  } else banFor(deps, header, caller);
  return false;
}

/** Returns true if the generator is the delegate of the slot. */
function isOfSlotDelegate(
  { rounds, chain, slots }: InboundBlocksDeps,
  { timestamp, generatorPublicKey }: BlockHeader,
  below: BlockHeader,
): boolean {
  const { round } = rounds.roundAt(below.height + 1);
  const order = getForgingOrder(chain.state, round);
  return order === undefined || delegateOfSlot(order, slots.slotAt(timestamp)) === generatorPublicKey;
}

/** A restarted node may have another forging order in some rounds (traps C1 and C2). */
function isOfDelegate({ network, chain }: InboundBlocksDeps, { generatorPublicKey }: BlockHeader): boolean {
  const address = addressFromPublicKey(generatorPublicKey, network.description.pubKeyHash);
  return chain.state.get("wallets", address)?.attributes.delegate !== undefined;
}

/**
 * Returns true if the transactions belong to an acceptable header, and the delegate has not made several
 * blocks.
 */
function isWhole({ deps, submitted }: State, block: ReceivedBlock, caller: Caller): boolean {
  if (caller.isTrusted) return true;
  const { header } = block;
  if (hasItsTransactions(deps, block)) {
    const slot = deps.slots.slotAt(header.timestamp);
    return submitted.take(`${header.generatorPublicKey} ${slot}`, performance.now());
  }
  banFor(deps, header, caller);
  return false;
}

/** The id covers the header only: with wrong transactions, the block would replace the real one. */
function hasItsTransactions({ network }: InboundBlocksDeps, { header, transactions }: Block): boolean {
  const ids = transactions.map(({ data }) => data.id);
  return payloadHashOf(ids) === header.payloadHash || isBlockException(header.id, ids, network);
}

const banFor = ({ ban }: InboundBlocksDeps, { height }: BlockHeader, { address }: Caller): void =>
  ban(address, `it posted a block ${height} that no delegate signed`);

/** Step 4 and later. */
async function process(state: State, block: EncodedBlock): Promise<Outcome> {
  const { chain, onReceived } = state.deps;
  state.inFlight = block.header;
  onReceived(block);
  try {
    const outcome = present((await chain.accept([block]))[0], "the outcome of a block");
    relay(state.deps, block, outcome);
    return outcome;
  } finally {
    if (state.inFlight === block.header) state.inFlight = undefined;
  }
}

function relay({ broadcast, logger }: InboundBlocksDeps, block: EncodedBlock, outcome: Outcome): void {
  if (outcome.kind === "Accepted" || outcome.kind === "Discarded") broadcast(block);
  if (outcome.kind === "Accepted") return;
  const { height, id } = block.header;
  logger.warn({ height, id, reason: refusalOf(outcome) }, "block refused");
}

const getForgingOrder = (state: StateReader, round: number): readonly string[] | undefined =>
  state.get("rounds", String(round))?.order;

type DoubleForgingDeps = {
  readonly network: Network;
  readonly slots: Slots;
  /** Header of this node's chain at a height. */
  readonly header: (height: number) => BlockHeader | undefined;
  readonly logger: Logger;
};

export type DoubleForging = {
  /** Compares a received header with the chain, and logs double forging once per block. */
  check(header: BlockHeader): void;
};

/** Blocks that are remembered as logged. */
const MAX_REPORTED = 1_000;

export function createDoubleForging({ network, slots, header, logger }: DoubleForgingDeps): DoubleForging {
  const reported = new Set<string>();

  return {
    check(other) {
      const { height, generatorPublicKey, id } = other;
      const ours = header(height);
      if (!ours || ours.id === id || ours.generatorPublicKey !== generatorPublicKey) return;
      if (slots.slotAt(ours.timestamp) !== slots.slotAt(other.timestamp) || reported.has(id)) return;
      if (verifyHeaderJob(headerSignatureJob(other, network)) !== "valid") return;
      if (reported.size >= MAX_REPORTED) deleteOldest(reported);
      reported.add(id);
      logger.warn(
        { height, generatorPublicKey, blockIds: [ours.id, id] },
        "double forging: a delegate signed two blocks for one slot",
      );
    },
  };
}
