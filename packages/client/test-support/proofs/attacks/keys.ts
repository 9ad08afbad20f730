/** Attacks on the trusted keys themselves. */
import { present } from "@uniknode/protocol";
import { TRUSTING_PERIOD_MS } from "../../../src/proofs/checkpoint.ts";
import { checkpointOf, keysOf, proofOf } from "../world.ts";
import { type Attack, endMs, isTrue, newKeys, ordinary } from "./attempt.ts";

export const keyAttacks: readonly Attack[] = [
  {
    name: "buys the keys of former delegates after the trusting period",
    without: { isFresh: isTrue },
    attempt(scene) {
      const { all, head, checkpoint, blocks } = ordinary(scene);
      const fake = scene.privateBlocks(head, all);
      const nowMs = endMs(scene, blocks) + TRUSTING_PERIOD_MS;
      return { proof: proofOf(scene.world, { blocks: fake }), checkpoint, nowMs };
    },
  },
  {
    name: "goes back to rounds whose keys it has bought since",
    without: { isAbove: isTrue },
    attempt(scene) {
      const { world, honest, bought, third } = scene;
      const [early, late] = [keysOf("early", third), keysOf("late", third)];
      const [before = [], then = [], now = []] = scene.rounds([
        [...early, ...late, ...bought, ...honest].slice(0, world.size),
        [...late, ...bought, ...honest].slice(0, world.size),
        [...honest, ...bought],
      ]);
      const fake = scene.privateBlocks(present(now.at(-1)), [...early, ...late, ...bought]);
      const advances = [
        [...then, ...now],
        [...before, ...then],
      ];
      const proof = proofOf(world, { blocks: fake, advances });
      return { proof, checkpoint: checkpointOf(world, now), nowMs: endMs(scene, fake) };
    },
  },
  {
    name: "wins all places of a single round",
    without: { isSmallChange: isTrue },
    attempt(scene) {
      const { world, honest, bought } = scene;
      const all = [...honest, ...bought];
      const winners = [...bought, ...newKeys(scene)];
      const [first = [], ...rest] = scene.rounds([all, winners, all]);
      const advance = rest.flat();
      const fake = scene.privateBlocks(present(advance.at(-1)), winners);
      const proof = proofOf(world, { blocks: fake, advances: [advance] });
      return { proof, checkpoint: checkpointOf(world, first), nowMs: endMs(scene, fake) };
    },
  },
  {
    name: "advances to a round in which too few delegates signed",
    without: { isLargeEnough: isTrue },
    attempt(scene) {
      const { world, honest, bought, quorum } = scene;
      const all = [...honest, ...bought];
      const up = scene.random.shuffled(all).slice(0, quorum - 1);
      const isDown = (round: number) => round === 1;
      const rounds = scene.rounds(
        [all, all, all, all, all],
        (key, round) => isDown(round) && !up.includes(key),
      );
      const [first = [], outage = [], next = [], ...later] = rounds;
      const blocks = later.flat();
      const nowMs = endMs(scene, blocks);
      return {
        proof: proofOf(world, { blocks: next, advances: [[...outage, ...next]] }),
        checkpoint: checkpointOf(world, first),
        nowMs,
        later: { proof: proofOf(world, { blocks }), nowMs },
      };
    },
  },
  {
    name: "advances to a part of a round, most of whose keys stop to sign",
    without: { isWholeRound: isTrue },
    attempt(scene) {
      const { world, honest, bought, quorum } = scene;
      const all = [...honest, ...bought];
      const [first = [], part = [], next = []] = scene.rounds([all, all, all]);
      // The part has more bought keys than honest ones may be missing.
      const window = part.slice(world.size - quorum);
      const signed = new Set(window.map(({ generator }) => generator));
      const silent = [...signed].slice(0, 1);
      const end = present(next.at(-1));
      const last = world.round(end, scene.random.shuffled(all), (_, key) => silent.includes(key));
      const blocks = [...last, ...world.round(present(last.at(-1)), all, (_, key) => silent.includes(key))];
      const nowMs = endMs(scene, blocks);
      return {
        proof: proofOf(world, { blocks: next, advances: [[...window, ...next]] }),
        checkpoint: checkpointOf(world, first),
        nowMs,
        later: { proof: proofOf(world, { blocks }), nowMs },
      };
    },
  },
];
