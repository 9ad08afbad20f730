/** Checkpoints of the dev chain of `chain/forking.ts`. */
import { type Checkpoint, readCheckpoint } from "@uniknode/client/proofs";
import { type BlockHeader, createRounds, createSlots } from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import { dev, network } from "../chain/forking.ts";

/** Returns the checkpoint at the end of the round of a height, with the generators of its blocks. */
export function checkpointAt(
  height: number,
  blockAt: (height: number) => Pick<BlockHeader, "id" | "timestamp" | "generatorPublicKey">,
): Checkpoint {
  const { roundHeight, maxDelegates } = createRounds(network).roundAt(height);
  const end = roundHeight + maxDelegates - 1;
  const keys = Array.from({ length: maxDelegates }, (_, index) => blockAt(roundHeight + index));
  const { network: description, milestones } = dev.files;
  return readCheckpoint({
    network: {
      nethash: description.nethash,
      addressVersion: description.pubKeyHash,
      epoch: network.milestoneAt(1).epoch,
      blockTime: createSlots(network).blocktime,
      delegates: [{ height: 1, count: present(milestones[0]).activeDelegates }],
    },
    height: end,
    id: blockAt(end).id,
    timestamp: blockAt(end).timestamp,
    keys: [...new Set(keys.map(({ generatorPublicKey }) => generatorPublicKey))].sort(),
  });
}
