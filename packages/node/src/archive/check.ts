/**
 * Checking of a stored chain without executing it: that its blocks are whole, follow one another from the genesis block
 * on, obey every rule that needs no state, and are signed by the delegate that each slot belongs to.
 *
 * Who the delegates of a round are, it takes from the database, like the state at the head: only executing all blocks
 * again proves these.
 */
import { createRounds, isFromDelegateOfSlot, roundOf } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  containsMultiSignatures,
  createSlots,
  encodeBlock,
  isBlockException,
  type Network,
} from "@uniknode/protocol";
import { type ReceivedBlock, receiveBlock } from "../chain/pipeline/receive.ts";
import type { Verifier } from "../chain/pipeline/verifier.ts";
import { type VerifiedBlock, verifyBlocks } from "../chain/pipeline/verify.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { createStateStore } from "../store/state/state.ts";
import { ArchiveError } from "./error.ts";

export type CheckDeps = {
  readonly network: Network;
  readonly genesis: Block;
  readonly verifier: Verifier;
  readonly nowMs: () => number;
  /** Hears the part of the blocks that is checked: 0 to 1. */
  readonly onPart: (part: number) => void;
};

export type Checked = { readonly head: BlockHeader; readonly transactions: number };

const BLOCKS_AT_ONCE = 256;
/** Wallets are not looked at. */
const STATE_OPTIONS = { cacheSize: 16 };

/** @throws {ArchiveError} ARCHIVE_FOREIGN, ARCHIVE_INVALID with the height and what is wrong there */
export async function checkChain(database: Database, deps: CheckDeps): Promise<Checked> {
  const { network, genesis, verifier, nowMs, onPart } = deps;
  const blocks = createBlockStore(database);
  const calendar = { rounds: createRounds(network), slots: createSlots(network) };
  const state = createStateStore(database, STATE_OPTIONS);
  const head = blocks.head();
  if (!head) throw new ArchiveError("ARCHIVE_INVALID", "there is no block");
  checkNetwork();

  let previous = genesis.header;
  let transactions = genesis.transactions.length;
  while (previous.height < head.height) {
    const received = readBlocks(previous.height + 1, Math.min(previous.height + BLOCKS_AT_ONCE, head.height));
    const verified = await verifyBlocks(received, { network, verifier, now: nowMs });
    for (const [index, outcome] of verified.entries()) {
      const block = received[index]!;
      if (outcome instanceof Error) throw invalid(block.header.height, outcome.message);
      checkPlace(block, previous);
      checkRules(outcome);
      previous = block.header;
      transactions += block.transactions.length;
    }
    onPart(previous.height / head.height);
  }
  return { head, transactions };

  function checkNetwork(): void {
    const { nethash, name } = network.description;
    const known = createMetaStore(database).read("nethash");
    const first = blocks.header(1)?.id;
    if (known === nethash && first === genesis.header.id) return;
    throw new ArchiveError(
      "ARCHIVE_FOREIGN",
      `the chain is of another network (nethash ${known}), not of ${name} (${nethash})`,
    );
  }

  function readBlocks(from: number, to: number): ReceivedBlock[] {
    return Array.from({ length: to - from + 1 }, (_, index) => {
      const height = from + index;
      const stored = blocks.block(height);
      if (!stored) throw invalid(height, "the block is missing");
      const received = readAgain(stored);
      const ids = ({ header, transactions }: Block) => [
        header.id,
        ...transactions.map(({ data }) => data.id),
      ];
      if (ids(received).join() !== ids(stored).join())
        throw invalid(height, "an id is not that of its bytes");
      return received;
    });
  }

  function readAgain(stored: Block): ReceivedBlock {
    try {
      return receiveBlock(encodeBlock(stored, network), network);
    } catch (error) {
      throw invalid(stored.header.height, (error as Error).message);
    }
  }

  function checkPlace({ header }: Block, before: BlockHeader): void {
    const { height, previousBlock, timestamp } = header;
    if (height !== before.height + 1 || previousBlock !== before.id || timestamp <= before.timestamp) {
      throw invalid(before.height + 1, "the block does not follow the one before");
    }
    const round = roundOf(state, calendar, before.height, height);
    if (!round) throw invalid(height, "the delegates of its round are missing");
    if (!isFromDelegateOfSlot(round, calendar, header)) {
      throw invalid(height, "the block is not from the delegate that its slot belongs to");
    }
  }

  function checkRules({ block, faults }: VerifiedBlock): void {
    const ids = block.transactions.map(({ data }) => data.id);
    if (isBlockException(block.header.id, ids, network)) return;
    // The signatures of multi signature wallets are judged by the state.
    const ofWallets = containsMultiSignatures(block)
      ? ["unverified-transaction", "unverified-transactions"]
      : [];
    const fault = faults.find(({ code }) => !ofWallets.includes(code));
    if (fault) {
      const { code, transactionId } = fault;
      throw invalid(block.header.height, transactionId ? `${code} ${transactionId}` : code);
    }
  }
}

const invalid = (height: number, reason: string) =>
  new ArchiveError("ARCHIVE_INVALID", `block ${height}: ${reason}`);
