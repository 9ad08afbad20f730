/**
 * Attacks on a branch that honest delegates left after a few blocks. The attacker adds the signatures that are missing for a
 * quorum. Slots and times let it do this only after its own slots have come, when the network may have one branch again.
 */
import { present } from "@uniknode/protocol";
import type { Scene } from "../scene.ts";
import { checkpointOf, type Parent, proofOf, type TestBlock } from "../world.ts";
import { type Attack, endMs, isTrue, newKeys, ordinary } from "./attempt.ts";

/** Blocks of so many honest delegates that a third of the keys completes the quorum, in consecutive slots. */
const abandoned = (scene: Scene, parent: Parent): TestBlock[] =>
  scene.privateBlocks(parent, scene.honest.slice(0, scene.quorum - scene.third));

/** Adds a block of each bought key. */
function complete(
  scene: Scene,
  branch: readonly TestBlock[],
  slotOf: (index: number) => number,
): TestBlock[] {
  const blocks = [...branch];
  for (const [index, key] of scene.bought.entries()) {
    blocks.push(scene.world.block(present(blocks.at(-1)), slotOf(index), key));
  }
  return blocks;
}

export const slotAttacks: readonly Attack[] = [
  {
    name: "signs the future slots of its keys at once",
    without: { isPast: isTrue },
    attempt(scene) {
      const { head, checkpoint } = ordinary(scene);
      const branch = abandoned(scene, head);
      const next = present(branch.at(-1)).slot + 1;
      const blocks = complete(scene, branch, (index) => next + index);
      return { proof: proofOf(scene.world, { blocks }), checkpoint, nowMs: endMs(scene, branch) };
    },
  },
  {
    name: "signs past slots of its keys",
    without: { isLater: isTrue },
    attempt(scene) {
      const { head, checkpoint } = ordinary(scene);
      const branch = abandoned(scene, head);
      const before = present(branch.at(-1)).slot + 1 - scene.world.size;
      const blocks = complete(scene, branch, (index) => before + index);
      return { proof: proofOf(scene.world, { blocks }), checkpoint, nowMs: endMs(scene, branch) };
    },
  },
  {
    name: "signs slots of other delegates",
    without: { isInOrder: isTrue },
    attempt(scene) {
      const { head, checkpoint } = ordinary(scene);
      const first = abandoned(scene, head);
      const again = present(first[0]);
      // One delegate has its second slot of the round; the next slots belong to those who signed after it.
      const branch = [
        ...first,
        scene.world.block(present(first.at(-1)), again.slot + scene.world.size, again.generator),
      ];
      const next = present(branch.at(-1)).slot + 1;
      const blocks = complete(scene, branch, (index) => next + index);
      return { proof: proofOf(scene.world, { blocks }), checkpoint, nowMs: endMs(scene, blocks) };
    },
  },
  {
    name: "completes a branch that was abandoned before the checkpoint",
    without: { isConsistent: isTrue },
    attempt(scene) {
      const { blocks: chain, checkpoint, nowMs } = ordinary(scene);
      const branch = abandoned(scene, present(chain[scene.world.size - 2]));
      const next = present(branch.at(-1)).slot + 1;
      const blocks = complete(scene, branch, (index) => next + index);
      return { proof: proofOf(scene.world, { blocks }), checkpoint, nowMs };
    },
  },
  {
    name: "advances by a round of an abandoned branch",
    without: { hasQuorum: isTrue },
    attempt(scene) {
      const { world, honest, bought, third, quorum } = scene;
      const [first] = scene.rounds([[...honest, ...bought]]);
      const start = present(first);
      const few = honest.slice(0, quorum - third - 1);
      // The attacker has created as many keys as may change, and signs with them as if they were delegates.
      const signers = [...few, ...bought, ...newKeys(scene).slice(0, third)];
      const silent = newKeys(scene, "silent").slice(0, world.size - signers.length);
      const round = world.round(
        present(start.at(-1)),
        scene.random.shuffled([...signers, ...silent]),
        (_, key) => silent.includes(key),
      );
      const blocks = scene.privateBlocks(present(round.at(-1)), bought);
      const proof = proofOf(world, { blocks, advances: [round] });
      return { proof, checkpoint: checkpointOf(world, start), nowMs: endMs(scene, blocks) };
    },
  },
];
