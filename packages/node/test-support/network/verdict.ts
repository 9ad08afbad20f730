/** Checks that all nodes have one chain and one state, and that each missed slot has a reason. */
import { join } from "node:path";
import { createRounds, missedSlots } from "@uniknode/ledger";
import {
  type BlockHeader,
  createNetwork,
  createSlots,
  isTypeActive,
  transactionTypes,
} from "@uniknode/protocol";
import { stateDigest } from "../../src/archive/digest.ts";
import { exportBlocks } from "../../src/archive/export.ts";
import { importBlocks } from "../../src/archive/import.ts";
import { createGrowth } from "../../src/facts/growth.ts";
import { createFactReader } from "../../src/facts/reader.ts";
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

/** Checks the nodes after all have stopped. */
export async function judge(fleet: Fleet, facts: Pick<FactsWatch, "faults" | "compared">): Promise<Verdict> {
  const faults = [...facts.faults];
  const indexes = Array.from({ length: fleet.count }, (_, index) => index);
  const heads = indexes.map((index) =>
    read(fleet, index, (database) => present(createBlockStore(database).head())),
  );
  const lowest = Math.min(...heads.map(({ height }) => height));
  const best = heads.findIndex(({ height }) => height === Math.max(...heads.map((head) => head.height)));

  const common = new Set(indexes.map((index) => idAt(fleet, index, lowest)));
  if (common.size > 1)
    faults.push(`there are ${common.size} blocks of height ${lowest}: ${[...common].join(", ")}`);
  else await compareStates();
  const missed = checkSlots();
  checkForgers();
  for (const index of indexes) checkAccount(index);
  const undone = fleet.accounts.reduce((total, { seen, chain }) => total + seen.length - chain.length, 0);
  return {
    faults,
    height: present(heads[best]).height,
    comparedTrees: facts.compared(),
    missed,
    undone,
    missingTypes: findMissingTypes(),
  };

  /** Compares states at one height, to which the other nodes apply the blocks of the highest. */
  async function compareStates(): Promise<void> {
    for (const index of indexes)
      if (present(heads[index]).height < present(heads[best]).height) await raise(fleet, best, index);
    const states = indexes.map((index) => read(fleet, index, stateDigest));
    const others = indexes.filter((index) => states[index] !== states[best]);
    if (others.length > 0) faults.push(`nodes ${others.join(" ")} have another state than node ${best}`);
    const roots = indexes.map((index) => rootOf(fleet, index));
    const unlike = indexes.filter((index) => roots[index] !== roots[best]);
    if (unlike.length > 0) faults.push(`nodes ${unlike.join(" ")} have other facts than node ${best}`);
    const alarmed = indexes.filter((index) => fleet.linesOf(index, ALL_LINES).includes(ALARM));
    if (alarmed.length > 0) faults.push(`nodes ${alarmed.join(" ")} saw other facts than their own`);
  }

  function checkSlots(): number {
    const network = createNetwork(fleet.network.files);
    const rounds = createRounds(network);
    const slots = createSlots(network);
    const gaps = read(fleet, best, (database) => {
      const blocks = createBlockStore(database);
      const state = createStateStore(database, { cacheSize: 100 });
      const heights = Array.from({ length: lowest - 2 }, (_, index) => index + 3);
      return heights.flatMap((height) => {
        const header = present(blocks.header(height));
        const round = present(state.get("rounds", String(rounds.roundAt(height).round)));
        return missedSlots(slots, round, present(blocks.header(height - 1)), header.timestamp);
      });
    });
    for (const { slot, delegate } of gaps) {
      const owner = fleet.ownerOf(delegate);
      const known = read(fleet, owner, (database) => createSlotStore(database).missedAt(slot));
      if (!known.some(({ publicKey, reason }) => publicKey === delegate && reason !== "")) {
        faults.push(`node ${owner} does not know why it missed slot ${slot}`);
      }
    }
    return gaps.length;
  }

  function findMissingTypes(): string[] {
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
  function checkForgers(): void {
    const ids = new Map<string, string>();
    for (const { id, generatorPublicKey, timestamp } of fleet.accounts.flatMap(({ seen }) => seen)) {
      const slot = `${generatorPublicKey} at ${timestamp}`;
      const other = ids.get(slot) ?? id;
      if (other !== id) faults.push(`${slot} forged both ${other} and ${id}`);
      ids.set(slot, other);
    }
  }

  /** Checks that the receiver's chain is that of its node, from its first block to the head. */
  function checkAccount(index: number): void {
    const { chain, faults: misfits } = present(fleet.accounts[index]);
    faults.push(...misfits.map((misfit) => `receiver ${index}: ${misfit}`));
    const top = chain.at(-1);
    const head = present(heads[index]);
    if (top?.id !== head.id)
      faults.push(`receiver ${index} ends at ${top?.height} ${top?.id}, not at ${head.height} ${head.id}`);
    const wrong = chain.find(({ height, id }) => idAt(fleet, index, height) !== id);
    if (wrong) faults.push(`receiver ${index} holds ${wrong.id} at height ${wrong.height}`);
  }
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
function rootOf(fleet: Fleet, index: number): string {
  const network = createNetwork(fleet.network.files);
  const database = openDatabase(join(fleet.dataOf(index), "node.sqlite"));
  try {
    const growth = createGrowth({ database, network, onTruncated: () => {} });
    while (growth.step(Number.POSITIVE_INFINITY));
    const { size, root } = createFactReader(database, network).checkpoint();
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
