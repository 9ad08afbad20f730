/** Checks that all nodes have one chain and one state, and that each missed slot has a reason. */
import { join } from "node:path";
import { missedSlots } from "@uniknode/ledger";
import {
  type BlockHeader,
  createNetwork,
  createRounds,
  createSlots,
  isTypeActive,
  transactionTypes,
} from "@uniknode/protocol";
import { stateDigest } from "../../src/archive/digest.ts";
import { exportBlocks } from "../../src/archive/export.ts";
import { importBlocks } from "../../src/archive/import.ts";
import { createGrowth } from "../../src/facts/growth.ts";
import { createSqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { present } from "../../src/platform/present.ts";
import { createBlockStore } from "../../src/store/chain/blocks.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { createSlotStore } from "../../src/store/node/slots.ts";
import { createStateStore } from "../../src/store/state/state.ts";
import { createVerifier } from "../../src/verification/verifier.ts";
import type { FactsWatch } from "./facts-watch.ts";
import type { Fleet } from "./fleet.ts";

export type Verdict = {
  /** Descriptions of failures; empty if there are none. */
  readonly faults: readonly string[];
  readonly height: number;
  /** Sizes at which the fact trees of two or more nodes were compared. */
  readonly comparedTrees: number;
  readonly missed: number;
  readonly undone: number;
  /** Active transaction types of which no transaction was included, as `group/type`. */
  readonly missingTypes: readonly string[];
};

/** Log message of a node that compares its fact tree with another one. */
const ALARM = "facts diverge";
const ALL_LINES = 1_000_000;

/** The nodes after all have stopped. */
type Stopped = {
  readonly fleet: Fleet;
  readonly indexes: readonly number[];
  readonly heads: readonly BlockHeader[];
  /** Index of the node with the highest head. */
  readonly best: number;
  /** Height of the lowest head. */
  readonly lowest: number;
};

/** Checks the nodes after all have stopped. */
export async function judge(fleet: Fleet, facts: Pick<FactsWatch, "faults" | "compared">): Promise<Verdict> {
  const nodes = stoppedNodes(fleet);
  const { indexes, heads, best } = nodes;
  const branches = findBranches(nodes);
  const states = branches.length > 0 ? branches : await findUnlikeStates(nodes);
  const { missed, faults: unexplained } = checkSlots(nodes);
  const undone = fleet.accounts.reduce((total, { seen, chain }) => total + seen.length - chain.length, 0);
  return {
    faults: [
      ...facts.faults,
      ...states,
      ...unexplained,
      ...findDoubleForgers(fleet),
      ...indexes.flatMap((index) => accountFaults(nodes, index)),
    ],
    height: present(heads[best]).height,
    comparedTrees: facts.compared(),
    missed,
    undone,
    missingTypes: findMissingTypes(nodes),
  };
}

function stoppedNodes(fleet: Fleet): Stopped {
  const indexes = Array.from({ length: fleet.count }, (_, index) => index);
  const heads = indexes.map((index) =>
    read(fleet, index, (database) => present(createBlockStore(database).head())),
  );
  const heights = heads.map(({ height }) => height);
  return { fleet, indexes, heads, best: heights.indexOf(Math.max(...heights)), lowest: Math.min(...heights) };
}

/** Checks that all nodes have the same block at the lowest head. */
function findBranches({ fleet, indexes, lowest }: Stopped): string[] {
  const common = new Set(indexes.map((index) => idAt(fleet, index, lowest)));
  if (common.size === 1) return [];
  return [`there are ${common.size} blocks of height ${lowest}: ${[...common].join(", ")}`];
}

/** Compares states at one height, to which the other nodes apply the blocks of the highest. */
async function findUnlikeStates({ fleet, indexes, heads, best }: Stopped): Promise<string[]> {
  for (const index of indexes)
    if (present(heads[index]).height < present(heads[best]).height) await raise(fleet, best, index);
  const states = indexes.map((index) => read(fleet, index, stateDigest));
  const others = indexes.filter((index) => states[index] !== states[best]);
  const roots = await Promise.all(indexes.map((index) => rootOf(fleet, index)));
  const unlike = indexes.filter((index) => roots[index] !== roots[best]);
  const alarmed = indexes.filter((index) => fleet.linesOf(index, ALL_LINES).includes(ALARM));
  return [
    ...(others.length > 0 ? [`nodes ${others.join(" ")} have another state than node ${best}`] : []),
    ...(unlike.length > 0 ? [`nodes ${unlike.join(" ")} have other facts than node ${best}`] : []),
    ...(alarmed.length > 0 ? [`nodes ${alarmed.join(" ")} saw other facts than their own`] : []),
  ];
}

/** Checks that the owner of each missed slot knows the reason. */
function checkSlots(nodes: Stopped): { readonly missed: number; readonly faults: string[] } {
  const { fleet } = nodes;
  const gaps = missedSlotsOf(nodes);
  const faults = gaps.flatMap(({ slot, delegate }) => {
    const owner = fleet.ownerOf(delegate);
    const known = read(fleet, owner, (database) => createSlotStore(database).missedAt(slot));
    const isExplained = known.some(({ publicKey, reason }) => publicKey === delegate && reason !== "");
    return isExplained ? [] : [`node ${owner} does not know why it missed slot ${slot}`];
  });
  return { missed: gaps.length, faults };
}

function missedSlotsOf({ fleet, best, lowest }: Stopped) {
  const network = createNetwork(fleet.network.files);
  const rounds = createRounds(network);
  const slots = createSlots(network);
  return read(fleet, best, (database) => {
    const blocks = createBlockStore(database);
    const state = createStateStore(database, { cacheSize: 100 });
    const heights = Array.from({ length: lowest - 2 }, (_, index) => index + 3);
    return heights.flatMap((height) => {
      const header = present(blocks.header(height));
      const round = present(state.get("rounds", String(rounds.roundAt(height).round)));
      return missedSlots(slots, round, present(blocks.header(height - 1)), header.timestamp);
    });
  });
}

function findMissingTypes({ fleet, heads, best }: Stopped): string[] {
  const network = createNetwork(fleet.network.files);
  const { height } = present(heads[best]);
  const found = read(fleet, best, (database) =>
    database
      .prepare<{ typeGroup: number; type: number }>(
        "SELECT DISTINCT type_group AS typeGroup, type FROM transactions WHERE height > 1",
      )
      .all(),
  );
  return transactionTypes
    .filter(({ typeGroup, type }) => isTypeActive(typeGroup, type, { network, height }))
    .filter(
      (wanted) => !found.some((type) => type.typeGroup === wanted.typeGroup && type.type === wanted.type),
    )
    .map(({ typeGroup, type }) => `${typeGroup}/${type}`);
}

/** Checks that no delegate signed two blocks for one slot, on any branch. */
function findDoubleForgers({ accounts }: Fleet): string[] {
  const ids = new Map<string, string>();
  return accounts
    .flatMap(({ seen }) => seen)
    .flatMap(({ id, generatorPublicKey, timestamp }) => {
      const slot = `${generatorPublicKey} at ${timestamp}`;
      const other = ids.get(slot) ?? id;
      ids.set(slot, other);
      return other === id ? [] : [`${slot} forged both ${other} and ${id}`];
    });
}

/** Checks that the receiver's chain is that of its node, from its first block to the head. */
function accountFaults({ fleet, heads }: Stopped, index: number): string[] {
  const { chain, faults: misfits } = present(fleet.accounts[index]);
  const faults = misfits.map((misfit) => `receiver ${index}: ${misfit}`);
  const top = chain.at(-1);
  const head = present(heads[index]);
  if (top?.id !== head.id)
    faults.push(`receiver ${index} ends at ${top?.height} ${top?.id}, not at ${head.height} ${head.id}`);
  const wrong = chain.find(({ height, id }) => idAt(fleet, index, height) !== id);
  if (wrong) faults.push(`receiver ${index} holds ${wrong.id} at height ${wrong.height}`);
  return faults;
}

function read<T>(fleet: Fleet, index: number, work: (database: Database) => T): T {
  const database = openDatabase(join(fleet.dataOf(index), "node.sqlite"), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Root of the facts of all final blocks, including facts that were not in the tree when the node stopped. */
async function rootOf(fleet: Fleet, index: number): Promise<string> {
  const network = createNetwork(fleet.network.files);
  const database = openDatabase(join(fleet.dataOf(index), "node.sqlite"));
  try {
    const growth = createGrowth({ database, network, onTruncated: () => {} });
    while (growth.step(Number.POSITIVE_INFINITY));
    const { size, root } = await createSqliteFactReader(database, network).checkpoint();
    return `${size} ${Buffer.from(root).toString("hex")}`;
  } finally {
    database.close();
  }
}

const idAt = (fleet: Fleet, index: number, height: number): string | undefined =>
  read(fleet, index, (database): BlockHeader | undefined => createBlockStore(database).header(height))?.id;

async function raise(fleet: Fleet, from: number, to: number): Promise<void> {
  const network = createNetwork(fleet.network.files);
  const verifier = createVerifier({ threads: 0 });
  const blocks = exportBlocks({ data: fleet.dataOf(from), network, from: 2, onProgress: () => {} });
  await importBlocks(blocks, fleet.dataOf(to), {
    network,
    genesis: fleet.network.block,
    verifier,
    nowMs: Date.now,
    onProgress: () => {},
  });
  await verifier.close();
}
