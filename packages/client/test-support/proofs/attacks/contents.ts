/** Attacks with contents that the block does not have. */
import { bytesToHex, present } from "@uniknode/protocol";
import { idOf, proofOf, transactionOf } from "../world.ts";
import { type Attack, endMs, isTrue, ordinary } from "./attempt.ts";

export const contentAttacks: readonly Attack[] = [
  {
    name: "names a transaction that the block does not contain",
    without: { isContained: isTrue },
    attempt(scene) {
      const { blocks, checkpoint, nowMs } = ordinary(scene);
      const at = scene.world.size + scene.random.below(scene.world.size);
      const proof = proofOf(scene.world, { blocks: blocks.slice(at), transaction: 0 });
      return { proof: { ...proof, transaction: bytesToHex(transactionOf("false")) }, checkpoint, nowMs };
    },
  },
  {
    name: "names an id that the block does not contain",
    without: { isPayload: isTrue },
    attempt(scene) {
      const { blocks, checkpoint, nowMs } = ordinary(scene);
      const proof = proofOf(scene.world, { blocks: blocks.slice(scene.world.size), transaction: 0 });
      const transaction = transactionOf("false");
      const ids = [...proof.ids, idOf(transaction)];
      return { proof: { ...proof, transaction: bytesToHex(transaction), ids }, checkpoint, nowMs };
    },
  },
  {
    name: "shows a block of another network whose delegates have the same keys",
    without: { isTransactionOf: isTrue },
    attempt(scene) {
      const { world } = scene;
      const { all, checkpoint, head } = ordinary(scene);
      const foreign = transactionOf("of the other network", world.network.addressVersion - 5);
      const [first, ...others] = all;
      const block = world.block(head, head.slot + 1, present(first), [foreign]);
      const blocks = [block, ...scene.privateBlocks(block, others)];
      return { proof: proofOf(world, { blocks, transaction: 0 }), checkpoint, nowMs: endMs(scene, blocks) };
    },
  },
];
