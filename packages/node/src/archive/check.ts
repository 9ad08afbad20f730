/**
 * Checks a stored chain without executing it: its blocks are complete, consecutive from the genesis block on,
 * obey every rule that needs no state, and are signed by the delegate of their slot.
 *
 * The delegates of a round and the state at the head are read from the database without verification: only
 * executing all blocks verifies them.
 */
import { isFromDelegateOfSlot, roundOf } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  containsMultiSignatures,
  createRounds,
  createSlots,
  isBlockException,
  joinBlock,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import { type ReceivedBlock, receiveBlock } from "../chain/pipeline/receive.ts";
import { type VerifiedBlock, verifyBlocks } from "../chain/pipeline/verify.ts";
import { present } from "../platform/present.ts";
import { type BlockBytes, BlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { MetaStore } from "../store/node/meta.ts";
import { StateStore } from "../store/state/state.ts";
import type { Verifier } from "../verification/verifier.ts";
import { ArchiveError } from "./archive-error.ts";

/** Dependencies of functions that process the blocks of an archive. */
export type ArchivedChain = {
  readonly network: Network;
  readonly genesis: Block;
  readonly verifier: Verifier;
  readonly nowMs: () => number;
  /**
   * True if the clock of the chain may be ahead of this machine's, as that of a dev chain: no block is then
   * too early.
   */
  readonly hasOwnClock?: boolean;
};

export type CheckDeps = ArchivedChain & {
  /** Called with the checked fraction of the blocks: 0 to 1. */
  readonly onPart: (part: number) => void;
};

export type Checked = { readonly head: BlockHeader; readonly transactions: number };

type Calendar = { readonly rounds: Rounds; readonly slots: Slots };

const BATCH_BLOCKS = 256;
/** The check reads no wallets. */
const STATE_OPTIONS = { cacheSize: 16 };

/** @throws {ArchiveError} ARCHIVE_FOREIGN, ARCHIVE_INVALID with the height and the reason */
export async function checkChain(database: Database, deps: CheckDeps): Promise<Checked> {
  const { network, genesis, verifier, onPart } = deps;
  const blocks = new BlockStore(database);
  const now = latestMs(deps);
  const calendar = { rounds: createRounds(network), slots: createSlots(network) };
  const state = new StateStore(database, STATE_OPTIONS);
  const head = blocks.head();
  if (!head) throw new ArchiveError("ARCHIVE_INVALID", "the database has no block");
  checkNetwork(database, blocks, deps);

  let previous = genesis.header;
  let transactions = genesis.transactions.length;
  while (previous.height < head.height) {
    const to = Math.min(previous.height + BATCH_BLOCKS, head.height);
    const received = readBlocks(blocks, network, previous.height + 1, to);
    const verified = await verifyBlocks(received, { network, verifier, now });
    for (const [index, outcome] of verified.entries()) {
      const block = present(received[index], "a block to verify");
      if (outcome instanceof Error) throw invalid(block.header.height, outcome.message);
      checkOrder(block, previous, state, calendar);
      checkRules(outcome, network);
      previous = block.header;
      transactions += block.transactions.length;
    }
    onPart(previous.height / head.height);
  }
  return { head, transactions };
}

function checkNetwork(database: Database, blocks: BlockStore, { network, genesis }: CheckDeps): void {
  const { nethash, name } = network.description;
  const known = new MetaStore(database).read("nethash");
  const first = blocks.header(1)?.id;
  if (known === nethash && first === genesis.header.id) return;
  throw new ArchiveError(
    "ARCHIVE_FOREIGN",
    `the chain belongs to another network (nethash ${known}), not to ${name} (${nethash})`,
  );
}

function readBlocks(blocks: BlockStore, network: Network, from: number, to: number): ReceivedBlock[] {
  const stored = blocks.bytes(from, to);
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const height = from + index;
    const block = stored[index];
    if (block?.height !== height) throw invalid(height, "the block is missing");
    const received = decode(block, network);
    const ids = [received.header.id, ...received.transactions.map(({ data }) => data.id)];
    if (ids.join() !== [block.id, ...block.transactionIds].join())
      throw invalid(height, "an id does not match the bytes of its block or transaction");
    return received;
  });
}

function decode({ height, header, transactions }: BlockBytes, network: Network): ReceivedBlock {
  try {
    return receiveBlock(joinBlock(header, transactions), network);
  } catch (error) {
    throw invalid(height, (error as Error).message);
  }
}

function checkOrder({ header }: Block, before: BlockHeader, state: StateStore, calendar: Calendar): void {
  const { height, previousBlock, timestamp } = header;
  if (height !== before.height + 1 || previousBlock !== before.id || timestamp <= before.timestamp) {
    throw invalid(before.height + 1, "the block does not follow the previous one");
  }
  const round = roundOf(state, calendar, before.height, height);
  if (!round) throw invalid(height, "the delegates of its round are unknown");
  if (!isFromDelegateOfSlot(round, calendar, header)) {
    throw invalid(height, "the block was not forged by the delegate of its slot");
  }
}

function checkRules({ block, faults }: VerifiedBlock, network: Network): void {
  const ids = block.transactions.map(({ data }) => data.id);
  if (isBlockException(block.header.id, ids, network)) return;
  // Signatures of multisignature wallets can only be verified with the state.
  const ignored = containsMultiSignatures(block) ? ["unverified-transaction", "unverified-transactions"] : [];
  const fault = faults.find(({ code }) => !ignored.includes(code));
  if (fault) {
    const { code, transactionId } = fault;
    const detail = code === "timestamp" ? "is ahead of the clock of this machine" : transactionId;
    throw invalid(block.header.height, detail ? `${code} ${detail}` : code);
  }
}

/** Returns the latest valid time of a block: milliseconds since 1970. */
export const latestMs = ({ nowMs, hasOwnClock }: Pick<CheckDeps, "nowMs" | "hasOwnClock">): (() => number) =>
  hasOwnClock ? () => Number.MAX_SAFE_INTEGER : nowMs;

const invalid = (height: number, reason: string) =>
  new ArchiveError("ARCHIVE_INVALID", `block ${height}: ${reason}`);
