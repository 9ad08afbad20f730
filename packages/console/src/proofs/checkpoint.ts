/** The checkpoint that the browser keeps for this origin: a node can lie only to a browser that has none yet. */
import type { Client } from "@uniknode/client";
import { type Checkpoint, createCheckpoint, readCheckpoint } from "@uniknode/client/proofs";

export type KeptCheckpoint = {
  readonly checkpoint: Checkpoint;
  /** Time of the first checkpoint, from which all others follow by proofs; milliseconds since 1970. */
  readonly sinceMs: number;
};

const KEY = "uniknode.checkpoint";

/** Returns undefined if there is none, or none that can be read. */
export function keptCheckpoint(): KeptCheckpoint | undefined {
  try {
    const { checkpoint, sinceMs } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return { checkpoint: readCheckpoint(checkpoint), sinceMs: Number(sinceMs) };
  } catch {
    return undefined;
  }
}

export function keepCheckpoint(kept: KeptCheckpoint | undefined): void {
  try {
    if (kept) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
  } catch {
    // A browser without storage trusts the node at each visit.
  }
}

/**
 * Creates a checkpoint from the responses of the node, which is trusted once.
 *
 * @throws {CheckpointError} if the chain has no final round yet
 */
export const firstCheckpoint = async (api: Client): Promise<KeptCheckpoint> => ({
  checkpoint: await createCheckpoint(api),
  sinceMs: Date.now(),
});
