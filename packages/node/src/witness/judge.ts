/** Selects the largest tree of facts that enough nodes contain, and compares it with the tree that a witness has signed (facts.md 12). */
import { type Hash, isConsistent } from "../facts/merkle/proofs.ts";
import { type RemoteCheckpoint, readCheckpoint, readProof } from "./remote-tree.ts";

export type Tree = { readonly size: number; readonly root: Hash };

/** The checkpoint of a node. */
export type Read = { readonly url: string; readonly checkpoint: RemoteCheckpoint };

/** The checkpoint of a node, or the reason why it has none. */
export type Reading = Read | Failed;
type Failed = { readonly url: string; readonly error: Error };

export type Judgement = {
  /** The largest checkpoint to sign; absent if too few nodes contain the same tree, or that tree contradicts the signed one. */
  readonly checkpoint?: RemoteCheckpoint;
  /** Nodes whose tree contains the selected one, or is a prefix of it. */
  readonly agreed: readonly string[];
  /** Nodes whose tree differs from the selected one, or from the signed one. */
  readonly differing: readonly string[];
  /** Nodes without a usable response. */
  readonly failed: readonly Failed[];
  /** Nodes whose common tree does not contain the signed one, if they are enough to sign it otherwise. */
  readonly contradiction?: readonly Read[];
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
 * @param minNodes number of nodes with different keys that must contain a tree
 */
export async function judge(
  readings: readonly Reading[],
  { signed, minNodes }: { signed: Tree; minNodes: number },
  signal: AbortSignal,
): Promise<Judgement> {
  const read = readings.filter((reading) => "checkpoint" in reading);
  const unread = readings.filter((reading) => "error" in reading);
  const comparison = new Comparison(signal);
  const selected = await selectLargest(read, minNodes, comparison);
  const reference = selected ?? (await selectLargest(read, 1, comparison));
  if (!reference) return { agreed: [], differing: [], failed: unread };
  const found = await classify(read, reference, comparison);
  const failed = [...unread, ...found.failed];
  const urlsOf = (reads: readonly Read[]) => reads.map(({ url }) => url);
  const isAmbiguous = (await selectLargest(found.differing, minNodes, comparison)) !== undefined;
  if (!selected || isAmbiguous) {
    // It is unknown which side is right.
    const sides = found.differing.length > 0 ? [...reference.holders, ...found.differing] : [];
    const agreed = found.agreed.filter((each) => !sides.includes(each));
    return { agreed: urlsOf(agreed), differing: urlsOf(sides), failed };
  }
  const { checkpoint, holders } = selected;
  const extension = await compareWithSigned(selected, signed, { read, comparison });
  if (extension === false) {
    const differing = [...holders, ...found.differing];
    return { agreed: [], differing: urlsOf(differing), failed, contradiction: holders };
  }
  if (extension instanceof Error) {
    const incomparable = found.agreed.map(({ url }) => ({ url, error: extension }));
    return { agreed: [], differing: urlsOf(found.differing), failed: [...failed, ...incomparable] };
  }
  return { checkpoint, agreed: urlsOf(found.agreed), differing: urlsOf(found.differing), failed };
}

/** A tree, and the nodes whose trees contain it. */
type Selected = { readonly checkpoint: RemoteCheckpoint; readonly holders: readonly Read[] };

/** Returns the largest tree that the trees of enough nodes contain. A node is its key: several addresses of a node count once. */
async function selectLargest(
  read: readonly Read[],
  minNodes: number,
  comparison: Comparison,
): Promise<Selected | undefined> {
  const keysOf = (reads: readonly Read[]) => new Set(reads.map(({ checkpoint }) => checkpoint.verifierKey));
  const descending = read.toSorted((a, b) => b.checkpoint.size - a.checkpoint.size);
  for (const { checkpoint } of descending) {
    const larger = read.filter((each) => each.checkpoint.size >= checkpoint.size);
    if (keysOf(larger).size < minNodes) continue;
    const verdicts = await Promise.all(larger.map((each) => comparison.contains(each, checkpoint)));
    const holders = larger.filter((_, index) => verdicts[index] === true);
    if (keysOf(holders).size >= minNodes) return { checkpoint, holders };
  }
  return undefined;
}

type Classes = Record<"agreed" | "differing", Read[]> & { readonly failed: Failed[] };

/** Compares every tree with the selected one. */
async function classify(
  read: readonly Read[],
  { checkpoint, holders }: Selected,
  comparison: Comparison,
): Promise<Classes> {
  const classes: Classes = { agreed: [], differing: [], failed: [] };
  const verdicts = await Promise.all(
    read.map((each) =>
      each.checkpoint.size >= checkpoint.size
        ? comparison.contains(each, checkpoint)
        : comparison.isPrefix(each.checkpoint, checkpoint, holders),
    ),
  );
  for (const [index, each] of read.entries()) {
    const verdict = verdicts[index];
    if (verdict instanceof Error) classes.failed.push({ url: each.url, error: verdict });
    else classes[verdict ? "agreed" : "differing"].push(each);
  }
  return classes;
}

/** Returns whether the selected tree contains the signed one, or is a prefix of it; an error if no node can prove one of them. */
async function compareWithSigned(
  { checkpoint, holders }: Selected,
  signed: Tree,
  { read, comparison }: { readonly read: readonly Read[]; readonly comparison: Comparison },
): Promise<boolean | Error> {
  if (signed.size <= checkpoint.size) return comparison.isPrefix(signed, checkpoint, holders);
  const larger = read.filter((each) => each.checkpoint.size >= signed.size);
  const verdict = await comparison.isPrefix(checkpoint, signed, larger.length > 0 ? larger : holders);
  // These nodes may be wrong: only the nodes that hold a tree can show that it does not contain another one.
  return verdict === false ? new Error("no node proves that its tree is a part of the signed one") : verdict;
}

type Verdict = boolean | Error;

/** Proofs of consistency, each requested once. False: the node responded with a proof that is wrong. */
class Comparison {
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Promise<Verdict>>();
  /** Nodes that have not responded. */
  readonly #failed = new Map<string, Error>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Returns true if the tree of a node contains a tree that is not larger. */
  async contains(holder: Read, tree: RemoteCheckpoint): Promise<Verdict> {
    const { checkpoint } = holder;
    // The last block is not in the tree: nodes with the same tree must also name the same block.
    if (checkpoint.size === tree.size) return textOf(checkpoint) === textOf(tree);
    return this.isPrefix(tree, checkpoint, [holder]);
  }

  /** Returns true if one of these nodes proves that a tree is a prefix of another one. */
  async isPrefix(from: Tree, to: Tree, provers: readonly Read[]): Promise<Verdict> {
    if (from.size === 0) return true;
    if (from.size === to.size) return Buffer.compare(from.root, to.root) === 0;
    const verdicts = await Promise.all(provers.map((prover) => this.#prove(from, to, prover)));
    const isKnown = verdicts.includes(true) || verdicts.includes(false);
    return isKnown ? verdicts.includes(true) : (verdicts[0] ?? new Error("no node has both trees"));
  }

  async #prove(from: Tree, to: Tree, { url }: Read): Promise<Verdict> {
    const key = JSON.stringify([url, ...[from, to].map(({ size, root }) => [size, hexOf(root)])]);
    // A node that does not respond must delay a round once, and not for each tree.
    const request =
      this.#known.get(key) ?? this.#failed.get(url) ?? requestProof(from, to, url, this.#signal);
    const verdict = Promise.resolve(request).catch((error: Error) => error);
    this.#known.set(key, verdict);
    const result = await verdict;
    if (result instanceof Error) this.#failed.set(url, result);
    return result;
  }
}

const textOf = ({ note }: RemoteCheckpoint): string => note.split("\n\n", 1).join();
const hexOf = (hash: Hash): string => Buffer.from(hash).toString("hex");

/** @throws {RemoteError} if the prover has no tree of one of the sizes */
const requestProof = async (from: Tree, to: Tree, url: string, signal: AbortSignal): Promise<boolean> =>
  isConsistent(from, to, await readProof(url, from.size, to.size, signal));
