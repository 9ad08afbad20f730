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
import { stateDigest } from "../../../src/archive/copy.ts";
import { importBlocks } from "../../../src/archive/import.ts";
import { exportBlocks } from "../../../src/archive/stream.ts";
import { Growth } from "../../../src/facts/growth.ts";
import { SqliteFactReader } from "../../../src/facts/sqlite/reader.ts";
import { present } from "../../../src/platform/present.ts";
import { BlockStore } from "../../../src/store/chain/blocks.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { createSlotStore } from "../../../src/store/node/slots.ts";
import { StateStore } from "../../../src/store/state/state.ts";
import { createVerifier } from "../../../src/verification/verifier.ts";
import { type DeliveredChain, deliveredChain } from "../actors/block-receiver.ts";
import type { Figures } from "../scenario.ts";
import type { Fleet, FleetNode } from "./fleet.ts";

/** Log message of a node that compares its fact tree with another one. */
const ALARM = "facts diverge";

/** A node after all have stopped. */
type Stopped = FleetNode & {
  readonly head: BlockHeader;
  /** The chain as its receiver knows it. */
  readonly delivered: DeliveredChain;
};

/**
 * Checks the nodes after all have stopped.
 *
 * @param faults gets descriptions of failures
 */
export async function judge(fleet: Fleet, faults: string[]): Promise<Figures> {
  const nodes = fleet.nodes.map((node) => ({
    ...node,
    head: read(node, (database) => present(new BlockStore(database).head())),
    delivered: deliveredChain(node.receiver.arrivals),
  }));
  const best = nodes.reduce((one, other) => (other.head.height > one.head.height ? other : one));
  const lowest = Math.min(...nodes.map(({ head }) => head.height));
  const branches = findBranches(nodes, lowest);
  const states = branches.length > 0 ? branches : await findUnlikeStates(fleet, nodes, best);
  const { missed, unexplained } = checkSlots(fleet, { nodes, best, lowest });
  const undone = nodes.reduce(
    (sum, { delivered }) => sum + delivered.seen.length - delivered.chain.length,
    0,
  );
  faults.push(
    ...states,
    ...unexplained,
    ...findDoubleForgers(nodes),
    ...nodes.flatMap(deliveryFaults),
    ...findMissingTypes(fleet, best).map((type) => `no transaction of the type ${type}`),
  );
  return { height: best.head.height, missed, undone };
}

/** Checks that all nodes have the same block at the lowest head. */
function findBranches(nodes: readonly Stopped[], lowest: number): string[] {
  const common = new Set(nodes.map((node) => idAt(node, lowest)));
  if (common.size === 1) return [];
  return [`there are ${common.size} blocks of height ${lowest}: ${[...common].join(", ")}`];
}

/** Compares states at one height, to which the other nodes apply the blocks of the highest. */
async function findUnlikeStates(fleet: Fleet, nodes: readonly Stopped[], best: Stopped): Promise<string[]> {
  for (const node of nodes) if (node.head.height < best.head.height) await raise(fleet, best, node);
  const digest = read(best, stateDigest);
  const root = await rootOf(fleet, best);
  const faults: string[] = [];
  for (const node of nodes) {
    if (read(node, stateDigest) !== digest) faults.push(`${node.name} has another state than ${best.name}`);
    if ((await rootOf(fleet, node)) !== root) faults.push(`${node.name} has other facts than ${best.name}`);
    if (node.output().includes(ALARM)) faults.push(`${node.name} saw other facts than its own`);
  }
  return faults;
}

type Slotted = { readonly nodes: readonly Stopped[]; readonly best: Stopped; readonly lowest: number };

/** Checks that the owner of each missed slot knows the reason. */
function checkSlots(fleet: Fleet, { nodes, best, lowest }: Slotted) {
  const gaps = missedSlotsOf(fleet, best, lowest);
  const unexplained = gaps.flatMap(({ slot, delegate }) => {
    const owner = present(nodes.find(({ delegates }) => delegates.includes(delegate)));
    const known = read(owner, (database) => createSlotStore(database).missedAt(slot));
    const isExplained = known.some(({ publicKey, reason }) => publicKey === delegate && reason !== "");
    return isExplained ? [] : [`${owner.name} does not know why it missed slot ${slot}`];
  });
  return { missed: gaps.length, unexplained };
}

function missedSlotsOf({ network: { files } }: Fleet, best: Stopped, lowest: number) {
  const network = createNetwork(files);
  const rounds = createRounds(network);
  const slots = createSlots(network);
  return read(best, (database) => {
    const blocks = new BlockStore(database);
    const state = new StateStore(database, { cacheSize: 100 });
    const heights = Array.from({ length: lowest - 2 }, (_, index) => index + 3);
    return heights.flatMap((height) => {
      const header = present(blocks.header(height));
      const round = present(state.get("rounds", String(rounds.roundAt(height).round)));
      return missedSlots(slots, round, present(blocks.header(height - 1)), header.timestamp);
    });
  });
}

/** Returns the active transaction types of which no transaction was included, as `group/type`. */
function findMissingTypes({ network: { files } }: Fleet, best: Stopped): string[] {
  const network = createNetwork(files);
  const found = read(best, (database) =>
    database
      .prepare<{ name: string }>(
        "SELECT DISTINCT type_group || '/' || type AS name FROM transactions WHERE height > 1",
      )
      .all(),
  );
  const names = new Set(found.map(({ name }) => name));
  return transactionTypes
    .filter(({ typeGroup, type }) => isTypeActive(typeGroup, type, { network, height: best.head.height }))
    .map(({ typeGroup, type }) => `${typeGroup}/${type}`)
    .filter((name) => !names.has(name));
}

/** Checks that no delegate signed two blocks for one slot, on any branch. */
function findDoubleForgers(nodes: readonly Stopped[]): string[] {
  const ids = new Map<string, string>();
  return nodes
    .flatMap(({ delivered }) => delivered.seen)
    .flatMap(({ id, generatorPublicKey, timestamp }) => {
      const slot = `${generatorPublicKey} at ${timestamp}`;
      const other = ids.get(slot) ?? id;
      ids.set(slot, other);
      return other === id ? [] : [`${slot} forged both ${other} and ${id}`];
    });
}

/** Checks that the receiver's chain is that of its node, from its first block to the head. */
function deliveryFaults(node: Stopped): string[] {
  const { name, head, delivered } = node;
  const top = delivered.chain.at(-1);
  const wrong = delivered.chain.find(({ height, id }) => idAt(node, height) !== id);
  return [
    ...delivered.faults,
    ...(top?.id === head.id ? [] : [`ends at ${top?.height} ${top?.id}, not at ${head.height} ${head.id}`]),
    ...(wrong ? [`holds ${wrong.id} at height ${wrong.height}`] : []),
  ].map((fault) => `receiver of ${name}: ${fault}`);
}

function read<T>({ data }: FleetNode, work: (database: Database) => T): T {
  const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Root of the facts of all final blocks, including facts that were not in the tree when the node stopped. */
async function rootOf(fleet: Fleet, { data }: Stopped): Promise<string> {
  const network = createNetwork(fleet.network.files);
  const database = openDatabase(join(data, "node.sqlite"));
  try {
    const growth = new Growth({ database, network, onTruncated: () => {} });
    while (growth.step(Number.POSITIVE_INFINITY));
    const { size, root } = await new SqliteFactReader(database, network).checkpoint();
    return `${size} ${Buffer.from(root).toString("hex")}`;
  } finally {
    database.close();
  }
}

const idAt = (node: Stopped, height: number): string | undefined =>
  read(node, (database): BlockHeader | undefined => new BlockStore(database).header(height))?.id;

/** Applies the blocks of one node to the other. */
async function raise(fleet: Fleet, from: Stopped, to: Stopped): Promise<void> {
  const network = createNetwork(fleet.network.files);
  const verifier = createVerifier({ threads: 0 });
  const blocks = exportBlocks({ data: from.data, network, from: 2, onProgress: () => {} });
  await importBlocks(blocks, to.data, {
    network,
    genesis: fleet.network.block,
    verifier,
    nowMs: Date.now,
    onProgress: () => {},
  });
  await verifier.close();
}
