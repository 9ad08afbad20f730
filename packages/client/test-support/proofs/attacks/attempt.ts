/** Attempts to deceive a verifier, and the situation in which most of them begin. */
import { present } from "@uniknode/protocol";
import type { Proof } from "../../../src/api/resources/proofs.ts";
import type { Checkpoint } from "../../../src/proofs/checkpoint.ts";
import type { Rules } from "../../../src/proofs/rules.ts";
import type { VerifyProof } from "../../../src/proofs/verify.ts";
import type { Scene } from "../scene.ts";
import { checkpointOf, type Key, keysOf, type TestBlock } from "../world.ts";

export type Attempt = {
  readonly proof: Proof;
  readonly checkpoint: Checkpoint;
  readonly nowMs: number;
  /** A true proof that a client must still accept afterwards; absent: the attempt claims that a false block is final. */
  readonly later?: { readonly proof: Proof; readonly nowMs: number };
};

export type Attack = {
  readonly name: string;
  /** The rule that stops the attack, replaced by one that does not. */
  readonly without: Partial<Rules>;
  attempt(scene: Scene): Attempt;
};

export const isTrue = (): boolean => true;

/** Returns true if the attempt deceives the verifier. */
export function succeeds({ proof, checkpoint, nowMs, later }: Attempt, verify: VerifyProof): boolean {
  const verdict = verify(proof, checkpoint, { nowMs });
  if (!later) return verdict.verdict === "final";
  const kept = verdict.verdict === "refused" ? checkpoint : verdict.checkpoint;
  return verify(later.proof, kept, { nowMs: later.nowMs }).verdict !== "final";
}

/** Three rounds of the same delegates, the first of which is the checkpoint. */
export function ordinary(scene: Scene) {
  const { world, honest, bought } = scene;
  const all = [...honest, ...bought];
  const rounds = scene.rounds([all, all, all], scene.misses);
  const blocks = rounds.flat();
  const checkpoint = checkpointOf(world, present(rounds[0]));
  return { all, blocks, checkpoint, head: present(blocks.at(-1)), nowMs: endMs(scene, blocks) };
}

/** Time of the last slot of blocks. */
export const endMs = ({ world }: Scene, blocks: readonly TestBlock[]): number =>
  world.unixMs(Math.max(...blocks.map(({ slot }) => slot)));

/** Keys that the attacker created or bought later, as many as a quorum needs. */
export const newKeys = ({ quorum }: Scene, name = "new"): Key[] => keysOf(name, quorum);
