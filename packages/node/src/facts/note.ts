/** Checkpoints of the tree as signed notes (C2SP tlog-checkpoint, signed-note): what a node vouches for. */
import { createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import type { Hash } from "./merkle/hashes.ts";

export type Checkpoint = {
  /** Leaves of the tree. */
  readonly size: number;
  readonly root: Hash;
  /** The last block of the tree; absent for the tree without leaves. */
  readonly block?: { readonly height: number; readonly id: string };
};

/** Version of what leaves are made from: another one makes another log. */
const LOG = "uniknode-facts-v1";
/** Of Ed25519, in signed notes. */
const ALGORITHM = 1;
const KEY_HASH_BYTES = 4;

/** Name of the log of a network, and of every key that signs its checkpoints. */
export const logName = (nethash: string): string => `${LOG}/${nethash}`;

/** The text that is signed. */
export const checkpointText = (name: string, { size, root, block }: Checkpoint): string =>
  [
    name,
    String(size),
    Buffer.from(root).toString("base64"),
    ...(block ? [`block ${block.height} ${block.id}`] : []),
    "",
  ].join("\n");

export type NoteSigner = {
  /** For those who verify notes: name, hash of the key, and key, as `NAME+HASH+KEY`. */
  readonly verifierKey: string;
  /** The whole note: text, empty line, signature. */
  sign(checkpoint: Checkpoint): string;
};

/** @param key private, of Ed25519 */
export function createNoteSigner(name: string, key: KeyObject): NoteSigner {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  const publicKey = Buffer.concat([Buffer.of(ALGORITHM), Buffer.from(x!, "base64url")]);
  const keyHash = hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), publicKey]), "buffer").subarray(
    0,
    KEY_HASH_BYTES,
  );
  return {
    verifierKey: `${name}+${keyHash.toString("hex")}+${publicKey.toString("base64")}`,
    sign(checkpoint) {
      const text = checkpointText(name, checkpoint);
      const signature = Buffer.concat([keyHash, sign(null, Buffer.from(text), key)]);
      return `${text}\n\u2014 ${name} ${signature.toString("base64")}\n`;
    },
  };
}
