/** Checks that all nodes have one chain and one state, and that each missed slot has a reason. */
import { join } from "node:path";
import { missedSlots } from "@uniknode/ledger";
import {
  type BlockHeader,
  createNetwork,
  createRounds,
  createSlots,
  isTypeActive,
  type Network,
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
import { SlotStore } from "../../../src/store/node/slots.ts";
import { StateStore } from "../../../src/store/state/state.ts";
import { BatchVerifier } from "../../../src/verification/verifier.ts";
import { DeliveredChain } from "../checks/delivered-chain.ts";
import { type Figures, firstValue } from "../scenario.ts";
import type { Fleet, FleetNode } from "./fleet.ts";

/** A node after all have stopped. */
type Stopped = FleetNode & {
  readonly head: BlockHeader;
  readonly delivered: DeliveredChain;
};

/** Comparison of the nodes after all have stopped. */
export class Verdict {
  readonly #fleet: Fleet;
  readonly #network: Network;
  readonly #nodes: readonly Stopped[];
  /** The node with the highest head. */
  readonly #best: Stopped;
  /** Height of the lowest head. */
  readonly #lowest: number;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#network = createNetwork(fleet.network.files);
    this.#nodes = fleet.nodes.map((node) => ({
      ...node,
      head: read(node, (database) => present(new BlockStore(database).head())),
      delivered: new DeliveredChain(node.receiver.arrivals),
    }));
    this.#best = this.#nodes.reduce((one, other) => (other.head.height > one.head.height ? other : one));
    this.#lowest = Math.min(...this.#nodes.map(({ head }) => head.height));
  }

  async judge(faults: string[]): Promise<Figures> {
    const branches = this.#findBranches();
    const states = branches.length > 0 ? branches : await this.#findUnlikeStates();
    const missed = this.#missedSlots();
    faults.push(
      ...states,
      ...missed.flatMap((slot) => this.#findUnexplained(slot)),
      ...this.#findDoubleForgers(),
      ...this.#nodes.flatMap(deliveryFaults),
      ...this.#findMissingTypes().map((type) => `no transaction of the type ${type}`),
    );
    const undone = this.#nodes.map(({ delivered }) => delivered.seen.length - delivered.chain.length);
    const sum = undone.reduce((one, other) => one + other, 0);
    return { height: this.#best.head.height, missed: missed.length, undone: sum };
  }

  #findBranches(): string[] {
    const common = new Set(this.#nodes.map((node) => idAt(node, this.#lowest)));
    if (common.size === 1) return [];
    return [`there are ${common.size} blocks of height ${this.#lowest}: ${[...common].join(", ")}`];
  }

  /** Compares states at one height, to which the other nodes apply the blocks of the highest. */
  async #findUnlikeStates(): Promise<string[]> {
    const best = this.#best;
    for (const node of this.#nodes) if (node.head.height < best.head.height) await this.#raise(node);
    const digest = read(best, stateDigest);
    const root = await this.#rootOf(best);
    const faults: string[] = [];
    for (const node of this.#nodes) {
      const { name } = node.member;
      if (read(node, stateDigest) !== digest)
        faults.push(`${name} has another state than ${best.member.name}`);
      if ((await this.#rootOf(node)) !== root)
        faults.push(`${name} has other facts than ${best.member.name}`);
    }
    return faults;
  }

  async #raise({ data }: Stopped): Promise<void> {
    const verifier = new BatchVerifier({ threads: 0 });
    const [network, onProgress] = [this.#network, () => {}];
    const blocks = exportBlocks({ data: this.#best.data, network, from: 2, onProgress });
    const genesis = this.#fleet.network.block;
    await importBlocks(blocks, data, { network, genesis, verifier, nowMs: Date.now, onProgress });
    await verifier.close();
  }

  /** Root of the facts of all final blocks, including facts that were not in the tree when the node stopped. */
  async #rootOf({ data }: Stopped): Promise<string> {
    const database = openDatabase(join(data, "node.sqlite"));
    try {
      const growth = new Growth({ database, network: this.#network, onTruncated: () => {} });
      while (growth.step(Number.POSITIVE_INFINITY));
      const { size, root } = await new SqliteFactReader(database, this.#network).checkpoint();
      return `${size} ${Buffer.from(root).toString("hex")}`;
    } finally {
      database.close();
    }
  }

  #missedSlots() {
    const rounds = createRounds(this.#network);
    const slots = createSlots(this.#network);
    return read(this.#best, (database) => {
      const blocks = new BlockStore(database);
      const state = new StateStore(database, { cacheSize: 100 });
      const heights = Array.from({ length: this.#lowest - 2 }, (_, index) => index + 3);
      return heights.flatMap((height) => {
        const header = present(blocks.header(height));
        const round = present(state.get("rounds", String(rounds.roundAt(height).round)));
        return missedSlots(slots, round, present(blocks.header(height - 1)), header.timestamp);
      });
    });
  }

  #findUnexplained({ slot, delegate }: { readonly slot: number; readonly delegate: string }): string[] {
    const owner = present(this.#nodes.find(({ delegates }) => delegates.includes(delegate)));
    const known = read(owner, (database) => new SlotStore(database).missedAt(slot));
    const isExplained = known.some(({ publicKey, reason }) => publicKey === delegate && reason !== "");
    return isExplained ? [] : [`${owner.member.name} does not know why it missed slot ${slot}`];
  }

  /** Returns the active transaction types of which no transaction was included, as `group/type`. */
  #findMissingTypes(): string[] {
    const at = { network: this.#network, height: this.#best.head.height };
    const sql = "SELECT DISTINCT type_group || '/' || type AS name FROM transactions WHERE height > 1";
    const found = read(this.#best, (database) => database.prepare<{ name: string }>(sql).all());
    const names = new Set(found.map(({ name }) => name));
    return transactionTypes
      .filter(({ typeGroup, type }) => isTypeActive(typeGroup, type, at))
      .map(({ typeGroup, type }) => `${typeGroup}/${type}`)
      .filter((name) => !names.has(name));
  }

  /** Checks that no delegate signed two blocks for one slot, on any branch. */
  #findDoubleForgers(): string[] {
    const ids = new Map<string, string>();
    return this.#nodes
      .flatMap(({ delivered }) => delivered.seen)
      .flatMap(({ id, generatorPublicKey, timestamp }) => {
        const slot = `${generatorPublicKey} at ${timestamp}`;
        const other = firstValue(ids, slot, id);
        return other === id ? [] : [`${slot} forged both ${other} and ${id}`];
      });
  }
}

/** Checks that the receiver's chain is that of its node, from its first block to the head. */
function deliveryFaults(node: Stopped): string[] {
  const { member, head, delivered } = node;
  const top = delivered.chain.at(-1);
  const wrong = delivered.chain.find(({ height, id }) => idAt(node, height) !== id);
  return [
    ...delivered.faults,
    ...(top?.id === head.id ? [] : [`ends at ${top?.height} ${top?.id}, not at ${head.height} ${head.id}`]),
    ...(wrong ? [`holds ${wrong.id} at height ${wrong.height}`] : []),
  ].map((fault) => `receiver of ${member.name}: ${fault}`);
}

function read<T>({ data }: FleetNode, work: (database: Database) => T): T {
  const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const idAt = (node: Stopped, height: number): string | undefined =>
  read(node, (database): BlockHeader | undefined => new BlockStore(database).header(height))?.id;
