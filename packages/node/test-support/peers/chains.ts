/** Chains of a test network in memory, each slot forged by its delegate. */
import {
  type Block,
  type BlockHeader,
  createNetwork,
  createRounds,
  createSlots,
  delegateOfSlot,
  type EncodedBlock,
  encodeBlock,
  forgeBlock,
  type KeyPair,
  type SealedTransaction,
} from "@uniknode/protocol";
import { Chain, type ChainDeps, type ChainOptions, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { buildStatus } from "../../src/peers/requests/server.ts";
import type { Status } from "../../src/peers/wire/events.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import { type NetworkShape, testNetwork } from "./test-network.ts";

/** A milestone above the height of most tests' chains. */
export const STRICTER_FROM = 81;
export const SHAPE: NetworkShape = { nodes: 4, blocktime: 8, stricterFrom: STRICTER_FROM };
const testbed = testNetwork(SHAPE);
const { files, block: genesis, delegates } = testbed;
export const { rich } = testbed;
export const network = createNetwork(files);
export const slots = createSlots(network);
export const rounds = createRounds(network);
export const verifier = new BatchVerifier({ threads: 0 });
/** A time after every block of the tests. */
export const LAST_SLOT = 100_000;
export const now = () => slots.slotTime(LAST_SLOT);
/** Keys of the delegates by public key. */
export const keysOf = new Map(delegates.map(({ publicKey, keys }) => [publicKey, keys]));

export type TestChain = {
  readonly chain: Chain;
  /**
   * Creates the next block of a slot, signed by its delegate unless other keys are given. It is not on any
   * chain yet.
   */
  make(slot: number, made?: { keys?: KeyPair; transactions?: SealedTransaction[] }): EncodedBlock;
  /** Extends the chain by a block of each slot. */
  forge(...slots: number[]): Promise<EncodedBlock[]>;
  take(...blocks: readonly Block[]): Promise<void>;
  header(height: number): BlockHeader;
  close(): Promise<void>;
};

/** Status that a node of the chain reports. */
export const statusOn = ({ head }: Chain): Status =>
  buildStatus({
    network,
    slots,
    head,
    now,
    version: "5.7.2",
    plugins: { "@arkecosystem/core-api": { enabled: true, port: 4003 } },
    processId: "",
  });

/** Chain in memory, unless a path is given. */
export function openTestChain(
  path = ":memory:",
  { deps, ...options }: Partial<ChainOptions> & { readonly deps?: Partial<ChainDeps> } = {},
): TestChain {
  const database = openDatabase(path);
  migrate(database);
  const chain = new Chain(
    { ...DEFAULT_CHAIN_OPTIONS, ...options },
    {
      database,
      network,
      genesis,
      verifier,
      events: new EventLog(database, { recordedNames: () => new Set() }),
      eventsOfFacts: () => [],
      eventsOfRevert: () => [],
      now: () => slots.unixMsOf(now()),
      onListenerError(error) {
        throw error;
      },
      ...deps,
    },
  );

  function make(
    slot: number,
    { keys, transactions = [] }: Parameters<TestChain["make"]>[1] = {},
  ): EncodedBlock {
    const previous = chain.head();
    const { round } = rounds.roundAt(previous.height + 1);
    const owner = present(delegateOfSlot(present(chain.state.get("rounds", String(round))).order, slot));
    const timestamp = slots.slotTime(slot);
    return forgeBlock({ network, timestamp, previous, transactions }, keys ?? present(keysOf.get(owner)));
  }

  return {
    chain,
    make,
    take: (...blocks) => accept(chain, blocks),
    async forge(...taken) {
      const blocks: EncodedBlock[] = [];
      for (const slot of taken) {
        const block = make(slot);
        await accept(chain, [block]);
        blocks.push(block);
      }
      return blocks;
    },
    header: (height) => present(chain.blocks.header(height)),
    async close() {
      await chain.close();
      database.close();
    },
  };
}

async function accept(chain: Chain, blocks: readonly Block[]): Promise<void> {
  const outcomes = await chain.accept(blocks.map((block) => encodeBlock(block, network)));
  const refused = outcomes.find(({ kind }) => kind !== "Accepted");
  if (refused) throw new Error(`a block of the test was refused: ${JSON.stringify(refused)}`);
}

/** Slots from one to another, both included. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
