/** The map of uniks, derived literally and slowly by executing all blocks: reference for the incremental implementation. */
import { createHash } from "node:crypto";
import { applyBlock, applyGenesis, createDraft, createMemoryState, type MemoryState } from "@uniknode/ledger";
import { type Block, canonicalJson, createRounds, createSlots, type Network } from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";

export type PlainMap = {
  readonly root: string;
  readonly uniks: number;
  /** Owners and all properties by id, as canonical JSON. */
  readonly values: ReadonlyMap<string, string>;
};

/** @param blocks from the genesis block on */
export function plainMaps(blocks: readonly Block[], network: Network): Map<number, PlainMap> {
  const [rounds, slots, state] = [createRounds(network), createSlots(network), createMemoryState()];
  const maps = new Map<number, PlainMap>();
  let head = present(blocks[0]).header;
  for (const block of blocks) {
    const draft = createDraft(state);
    if (block.header.height === 1) applyGenesis(draft, network, block);
    else applyBlock({ network, rounds, slots, head, assumesSignatures: true }, draft, block);
    state.commit(draft.changes());
    head = block.header;
    if (head.height > 1 && rounds.roundAt(head.height + 1).isNewRound) maps.set(head.height, mapOf(state));
  }
  return maps;
}

function mapOf(state: MemoryState): PlainMap {
  const values = new Map(
    state.entries("tokens").map(([id, { ownerId }]) => {
      const properties = Object.fromEntries(state.properties(id));
      return [id, canonicalJson({ owner: ownerId, properties })];
    }),
  );
  const leaves = state.entries("tokens").map(([id, { ownerId }]) => {
    const properties = [...state.properties(id)].map(([key, value]) => [sha256(key), sha256(value)] as const);
    const root = rootOf(properties, 0).toString("hex");
    return [
      sha256(Buffer.from(id, "hex")),
      sha256(canonicalJson({ owner: ownerId, properties: root })),
    ] as const;
  });
  return { root: rootOf(leaves, 0).toString("hex"), uniks: values.size, values };
}

/** Returns the root of the leaves, which agree in the bits above a depth. */
function rootOf(leaves: readonly (readonly [key: Buffer, value: Buffer])[], depth: number): Buffer {
  if (leaves.length === 0) return Buffer.alloc(32);
  if (leaves.length === 1) return sha256(Buffer.concat([Buffer.of(0), ...present(leaves[0])]));
  const isRight = ([key]: readonly [Buffer, Buffer]) =>
    (present(key[depth >> 3]) >> (7 - (depth & 7))) % 2 === 1;
  const left = rootOf(
    leaves.filter((leaf) => !isRight(leaf)),
    depth + 1,
  );
  const right = rootOf(leaves.filter(isRight), depth + 1);
  return sha256(Buffer.concat([Buffer.of(1), left, right]));
}

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();
