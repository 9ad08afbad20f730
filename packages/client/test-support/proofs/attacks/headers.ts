/** Attacks with headers that the trusted keys did not sign. */
import { present } from "@uniknode/protocol";
import { type Key, proofOf, type TestBlock, transactionOf } from "../world.ts";
import { type Attack, endMs, isTrue, newKeys, ordinary } from "./attempt.ts";

export const headerAttacks: readonly Attack[] = [
  {
    name: "signs headers of other delegates with a key of its own",
    without: { isSigned: isTrue },
    attempt(scene) {
      const { blocks, all, checkpoint } = ordinary(scene);
      const { privateKey } = present(scene.bought[0]);
      const imitated = all.map(({ publicKey }): Key => ({ privateKey, publicKey }));
      const fake = scene.privateBlocks(scene.random.pick(blocks.slice(scene.world.size)), imitated);
      const proof = proofOf(scene.world, { blocks: fake });
      return { proof, checkpoint, nowMs: endMs(scene, [...fake, ...blocks]) };
    },
  },
  {
    name: "puts headers of the network on its own block",
    without: { isLinked: isTrue },
    attempt(scene) {
      const { blocks, checkpoint, nowMs } = ordinary(scene);
      const { bought, world } = scene;
      const at = blocks.findIndex(({ generator }, index) => index > world.size && bought.includes(generator));
      const { slot, generator } = present(blocks[at]);
      const fake = world.block(present(blocks[at - 1]), slot, generator, [transactionOf("false")]);
      const proof = proofOf(world, { blocks: [fake, ...blocks.slice(at + 1)], transaction: 0 });
      return { proof, checkpoint, nowMs };
    },
  },
  {
    name: "signs many headers with few keys",
    without: {
      signersOf: (headers, keys) =>
        headers.filter(({ generatorPublicKey }) => keys.includes(generatorPublicKey)).length,
    },
    attempt(scene) {
      const { head, checkpoint } = ordinary(scene);
      const { bought, quorum, world } = scene;
      const fake: TestBlock[] = [];
      while (fake.length < quorum) {
        const parent = fake.at(-1) ?? head;
        const before = fake[fake.length - bought.length];
        const slot = before ? before.slot + world.size : parent.slot + 1;
        fake.push(world.block(parent, slot, present(bought[fake.length % bought.length])));
      }
      return { proof: proofOf(world, { blocks: fake }), checkpoint, nowMs: endMs(scene, fake) };
    },
  },
  {
    name: "signs with keys that are not trusted",
    without: {
      signersOf: (headers) => new Set(headers.map(({ generatorPublicKey }) => generatorPublicKey)).size,
    },
    attempt(scene) {
      const { head, checkpoint } = ordinary(scene);
      const fake = scene.privateBlocks(head, newKeys(scene));
      return { proof: proofOf(scene.world, { blocks: fake }), checkpoint, nowMs: endMs(scene, fake) };
    },
  },
  {
    name: "signs with a third of the keys",
    without: { hasQuorum: isTrue },
    attempt(scene) {
      const { blocks, checkpoint } = ordinary(scene);
      const fake = scene.privateBlocks(scene.random.pick(blocks.slice(scene.world.size)), scene.bought);
      const proof = proofOf(scene.world, { blocks: fake });
      return { proof, checkpoint, nowMs: endMs(scene, [...fake, ...blocks]) };
    },
  },
];
