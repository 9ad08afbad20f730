/** Checkpoints of known networks, which each release contains (docs/spec/proofs.md 2). */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { type Checkpoint, checkpointText, createCheckpoint, parseCheckpoint } from "@uniknode/client/proofs";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Age from which a checkpoint should be replaced: a client trusts it for 30 days, and installs a release later. */
const OLD_DAYS = 7;

/**
 * Requests a checkpoint from each node, and writes it into the folder, for the network of the node.
 *
 * @param urls base URLs of nodes that the maintainers trust, one of each network
 * @returns the paths of the files
 * @throws {Error} if a node has no final round, or two nodes are of one network; nothing is written then
 */
export async function writeCheckpoints(urls: readonly string[], folder: string): Promise<string[]> {
  const checkpoints = new Map<string, Checkpoint>();
  for (const url of urls) {
    const checkpoint = await createCheckpoint(createClient({ url }));
    const { nethash } = checkpoint.network;
    if (checkpoints.has(nethash))
      throw new Error(`two nodes are of the network ${nethash}: give one of them`);
    checkpoints.set(nethash, checkpoint);
  }
  mkdirSync(folder, { recursive: true });
  return [...checkpoints].map(([nethash, checkpoint]) => {
    const path = join(folder, `${nethash}.txt`);
    writeFileSync(path, checkpointText(checkpoint));
    return path;
  });
}

/** Returns a line for each checkpoint that should be replaced before a release, or one if there is none. */
export function staleCheckpoints(folder: string, nowMs: number): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".txt"));
  if (files.length === 0)
    return ["The release contains no checkpoint: npm run release -- checkpoints URL..."];
  return files.flatMap((file) => {
    const { network, timestamp } = parseCheckpoint(readFileSync(join(folder, file), "utf8"));
    const days = Math.floor((nowMs - Date.parse(network.epoch) - timestamp * 1_000) / DAY_MS);
    return days < OLD_DAYS
      ? []
      : [`The checkpoint ${file} is ${days} days old: npm run release -- checkpoints URL...`];
  });
}
