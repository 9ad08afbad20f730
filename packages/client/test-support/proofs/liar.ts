/**
 * A liar without a plan: it combines true headers of a chain whose delegates change, its own headers, and slots as chance
 * has it. In each round it owns at most a third of the delegates, and the keys of all who left before the checkpoint.
 */
import { present } from "@uniknode/protocol";
import type { ProofVerdict } from "../../src/proofs/verdict.ts";
import type { Attempt } from "./attacks/attempt.ts";
import type { Scene } from "./scene.ts";
import { checkpointOf, type Key, keysOf, proofOf, type TestBlock, transactionOf } from "./world.ts";

const ROUNDS = 7;
/** Index of the round of the checkpoint. */
const TRUSTED = 3;

export type Lie = Attempt & {
  /** Returns true if the verdict contains something that the network does not have. */
  isFalse(verdict: ProofVerdict): boolean;
};

export function lie(scene: Scene): Lie {
  const { world, random } = scene;
  const { delegates, bought } = changingDelegates(scene);
  const rounds = scene.rounds(delegates, scene.misses);
  const chain = rounds.flat();
  const checkpoint = checkpointOf(world, present(rounds[TRUSTED]));
  const known = new Set(chain.map(({ id }) => id));
  const own = ownBlocks(scene, chain, bought);
  const advances = Array.from({ length: Math.max(0, random.below(5) - 1) }, () => {
    const at = random.below(4) === 0 ? random.below(chain.length) : world.size * random.below(ROUNDS);
    return chain.slice(at, at + world.size + random.below(2 * world.size));
  }).filter(({ length }) => length > 0);
  if (random.below(4) === 0) advances.push(own);
  const from = chain.slice(random.below(chain.length));
  const blocks = random.below(4) === 0 ? [...own, ...from] : own;
  return {
    proof: proofOf(world, { blocks, advances, ...(random.below(2) === 0 && { transaction: 0 }) }),
    checkpoint,
    nowMs: world.unixMs(present(chain.at(-1)).slot + random.below(6 * world.size)),
    isFalse(verdict) {
      if (verdict.verdict === "refused") return false;
      const isWrongBlock = verdict.verdict === "final" && !known.has(verdict.block.id);
      return isWrongBlock || !known.has(verdict.checkpoint.id);
    },
  };
}

/** The delegates of each round: up to a third change from one round to the next, and up to a third are bought. */
function changingDelegates({ world: { size }, random, honest, bought, third }: Scene) {
  let honestNow: readonly Key[] = honest;
  let boughtNow: readonly Key[] = bought;
  const owned = new Set(bought);
  const delegates = Array.from({ length: ROUNDS }, (_, round) => {
    const changed = random.below(third + 1);
    if (random.below(2) === 0) {
      boughtNow = [...boughtNow.slice(changed), ...keysOf(`bought ${round}`, changed)];
      for (const key of boughtNow) owned.add(key);
    } else {
      // Who leaves before the round of the checkpoint sells the key.
      for (const key of honestNow.slice(0, changed)) if (round <= TRUSTED) owned.add(key);
      honestNow = [...honestNow.slice(changed), ...keysOf(`honest ${round}`, changed)];
    }
    return [...honestNow, ...boughtNow].slice(0, size);
  });
  return { delegates, bought: [...owned] };
}

/** Blocks of the attacker on any block, in increasing or in arbitrary slots. */
function ownBlocks({ world, random }: Scene, chain: readonly TestBlock[], keys: readonly Key[]): TestBlock[] {
  const blocks: TestBlock[] = [];
  let parent = random.pick(chain);
  const isPatient = random.below(4) > 0;
  const gap = random.below(8) === 0 ? random.below(3) : 0;
  const isOften = random.below(4) === 0;
  const signers = random
    .shuffled(isOften ? [...keys, ...keys] : keys)
    .slice(0, 1 + random.below(2 * world.size));
  for (const key of signers) {
    const slot = isPatient ? parent.slot + 1 + gap : random.pick(chain).slot + random.below(50);
    parent = world.block(parent, slot, key, [transactionOf(`own ${parent.id}`)]);
    blocks.push(parent);
  }
  return blocks;
}
