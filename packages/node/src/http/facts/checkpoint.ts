/** Signed checkpoints in responses (docs/spec/facts.md 4). */
import type { Hash } from "../../facts/merkle/hashes.ts";
import type { NoteSigner, Checkpoint as TreeCheckpoint } from "../../facts/note.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { blockId } from "../core/values.ts";

export const hash = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const proof = Type.Array(hash, { description: "Hashes from the leaves up (RFC 6962)." });

export const Checkpoint = Type.Object(
  {
    size: Type.Integer({ minimum: 0, description: "Number of leaves of the tree." }),
    root: hash,
    height: Type.Integer({
      minimum: 0,
      description: "Height of the last block in the tree; 0 if the tree is empty.",
    }),
    id: Type.Union([blockId, Type.Null()], { description: "Id of this block; null if the tree is empty." }),
    note: Type.String({ description: "The checkpoint, signed by the node (C2SP tlog-checkpoint)." }),
    verifierKey: Type.String({ description: "Key that verifies the note (C2SP signed-note)." }),
  },
  { title: "FactsCheckpoint" },
);

export type CheckpointReader = (checkpoint: TreeCheckpoint) => Static<typeof Checkpoint>;

/** Signs checkpoints; caches the note, which is the same for the same tree. */
export function createCheckpointReader(signer: NoteSigner): CheckpointReader {
  let last: { readonly root: Hash; readonly note: string } | undefined;
  return (checkpoint) => {
    const { size, root, block } = checkpoint;
    if (!last || Buffer.compare(last.root, root) !== 0) last = { root, note: signer.sign(checkpoint) };
    return {
      size,
      root: hexOf(root),
      height: block?.height ?? 0,
      id: block?.id ?? null,
      note: last.note,
      verifierKey: signer.verifierKey,
    };
  };
}

export const hexOf = (digest: Hash): string => Buffer.from(digest).toString("hex");
