/** True proofs of random chains. */
import { present } from "@uniknode/protocol";
import { createScene, type Random } from "./scene.ts";
import { checkpointOf, idOf, keysOf, proofOf, type TestBlock } from "./world.ts";

const SIZE = 23;

/** Returns a true proof with the fewest headers, whose checkpoint is so many advances below it. */
export function provenExample(random: Random, advances: number) {
  const { world, honest, bought, rounds, quorum } = createScene(random, SIZE);
  const entering = keysOf("entering", 3 * advances);
  const delegates = Array.from({ length: 2 * advances + 3 }, (_, round) =>
    [...entering.slice(0, 3 * Math.ceil(round / 2)), ...honest, ...bought].slice(0, SIZE),
  );
  const chain = rounds(delegates);
  const checkpoint = checkpointOf(world, present(chain[0]));
  const steps: TestBlock[][] = [];
  let { keys } = checkpoint;
  for (let at = 1; at <= 2 * advances; at += 2) {
    const [whole = [], ...above] = chain.slice(at);
    steps.push([...whole.slice(0, -1), ...upToQuorum([...whole.slice(-1), ...above.flat()], keys, quorum)]);
    ({ keys } = checkpointOf(world, whole));
  }
  const above = chain.slice(2 * advances + 1).flat();
  const blocks = upToQuorum(above, keys, quorum);
  return {
    proof: proofOf(world, { blocks, advances: steps, transaction: 0 }),
    checkpoint,
    id: idOf(present(blocks[0]?.transactions[0])),
    nowMs: world.unixMs(present(above.at(-1)).slot),
  };
}

/** Returns the fewest blocks that so many trusted keys signed. */
function upToQuorum(blocks: readonly TestBlock[], keys: readonly string[], quorum: number): TestBlock[] {
  const signers = new Set<string>();
  const end = blocks.findIndex(({ generator: { publicKey } }) => {
    if (keys.includes(publicKey)) signers.add(publicKey);
    return signers.size === quorum;
  });
  return blocks.slice(0, end + 1);
}
