/** Compares the trees of facts of several nodes with the tree that a witness has signed, and with each other (facts.md 12). */
import { type RemoteCheckpoint, readCheckpoint, readProof } from "../facts/comparison/remote.ts";
import type { Hash } from "../facts/merkle/hashes.ts";
import { isConsistent } from "../facts/merkle/proofs.ts";

export type Tree = { readonly size: number; readonly root: Hash };

/** The checkpoint of a node, or the reason why it has none. */
export type Reading =
  | { readonly url: string; readonly checkpoint: RemoteCheckpoint }
  | { readonly url: string; readonly error: Error };

export type Judgement = {
  /** The largest checkpoint of which all others are prefixes; absent if two trees differ, or too few nodes have one. */
  readonly checkpoint?: RemoteCheckpoint;
  /** Nodes whose tree contains the signed one, or is a prefix of it. */
  readonly agreed: readonly string[];
  /** Nodes whose tree differs from the signed one or from another one. */
  readonly differing: readonly string[];
  /** Nodes without a usable response. */
  readonly failed: readonly { readonly url: string; readonly error: Error }[];
};

/** Requests the checkpoints of all nodes; a node that does not respond within its timeout has none. */
export const readAll = (
  urls: readonly string[],
  check: (url: string, checkpoint: RemoteCheckpoint) => void,
  signal: AbortSignal,
): Promise<Reading[]> =>
  Promise.all(
    urls.map(async (url): Promise<Reading> => {
      try {
        const checkpoint = await readCheckpoint(url, signal);
        check(url, checkpoint);
        return { url, checkpoint };
      } catch (error) {
        return { url, error: error as Error };
      }
    }),
  );

/**
 * @param signed the last tree that the witness signed; the empty tree if there is none
 * @param minNodes number of nodes that must agree
 */
export async function judge(
  readings: readonly Reading[],
  { signed, minNodes }: { signed: Tree; minNodes: number },
  signal: AbortSignal,
): Promise<Judgement> {
  const failed = readings.flatMap((reading) => ("error" in reading ? [reading] : []));
  const read = readings.flatMap((reading) => ("checkpoint" in reading ? [reading] : []));
  const ascending = read.toSorted((a, b) => a.checkpoint.size - b.checkpoint.size);
  const differing = new Set<string>();
  let last: Tree & { readonly url?: string } = signed;
  for (const { url, checkpoint } of ascending) {
    // A tree below the signed one is proven by any node that has both.
    const prover = checkpoint.size < signed.size ? (ascending.at(-1)?.url ?? url) : url;
    const isSame = await areConsistent(last, checkpoint, prover, signal).catch((error: Error) => error);
    if (isSame instanceof Error) failed.push({ url, error: isSame });
    else if (!isSame) {
      differing.add(url);
      if (last.url !== undefined) differing.add(last.url);
    } else if (checkpoint.size >= last.size) last = { ...checkpoint, url };
  }
  const isFailed = new Set(failed.map(({ url }) => url));
  const agreed = read.map(({ url }) => url).filter((url) => !differing.has(url) && !isFailed.has(url));
  const newest = read.find(({ url }) => url === last.url)?.checkpoint;
  const isSigned = differing.size === 0 && agreed.length >= minNodes && newest !== undefined;
  return { ...(isSigned && { checkpoint: newest }), agreed, differing: [...differing], failed };
}

/** @throws {RemoteError} if the prover has no tree of one of the sizes */
async function areConsistent(a: Tree, b: Tree, prover: string, signal: AbortSignal): Promise<boolean> {
  const [from, to] = a.size <= b.size ? [a, b] : [b, a];
  if (from.size === 0) return true;
  if (from.size === to.size) return Buffer.compare(from.root, to.root) === 0;
  return isConsistent(from, to, await readProof(prover, from.size, to.size, signal));
}
