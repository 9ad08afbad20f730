/**
 * Checkpoints of the tree as signed notes (C2SP tlog-checkpoint, signed-note), and the key that signs them: it is created at the first
 * start of a node and stored in its data folder.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
} from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { present } from "../platform/present.ts";
import { DataError } from "../store/engine/data-error.ts";
import type { Hash } from "./merkle/proofs.ts";

export type Checkpoint = {
  /** Leaves of the tree. */
  readonly size: number;
  readonly root: Hash;
  /** The last block of the tree; absent if the tree is empty. */
  readonly block?: { readonly height: number; readonly id: string };
};

/** Version of the format of leaves: a new version starts a new log. */
const LOG = "uniknode-facts-v3";
/** Identifier of Ed25519 in signed notes. */
const ALGORITHM = 1;
const KEY_HASH_BYTES = 4;

/** Returns the name of the log of a network, which is also the name of every key that signs its checkpoints. */
export const logName = (nethash: string): string => `${LOG}/${nethash}`;

/** Returns the text to sign. */
export const checkpointText = (name: string, { size, root, block }: Checkpoint): string =>
  [
    name,
    String(size),
    Buffer.from(root).toString("base64"),
    ...(block ? [`block ${block.height} ${block.id}`] : []),
    "",
  ].join("\n");

export class NoteSigner {
  /** Public key for verifiers of notes, as `NAME+HASH+KEY`: name, hash of the key, and key. */
  readonly verifierKey: string;
  readonly #name: string;
  readonly #key: KeyObject;
  readonly #keyHash: Buffer;

  /** @param key private Ed25519 key */
  constructor(name: string, key: KeyObject) {
    this.#name = name;
    this.#key = key;
    const { x } = createPublicKey(key).export({ format: "jwk" });
    const publicKey = Buffer.concat([
      Buffer.of(ALGORITHM),
      Buffer.from(present(x, "the public key"), "base64url"),
    ]);
    this.#keyHash = hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), publicKey]), "buffer").subarray(
      0,
      KEY_HASH_BYTES,
    );
    this.verifierKey = `${name}+${this.#keyHash.toString("hex")}+${publicKey.toString("base64")}`;
  }

  /** Returns the whole note: text, empty line, signature. */
  sign(checkpoint: Checkpoint): string {
    const text = checkpointText(this.#name, checkpoint);
    const signature = Buffer.concat([this.#keyHash, sign(null, Buffer.from(text), this.#key)]);
    return `${text}\n\u2014 ${this.#name} ${signature.toString("base64")}\n`;
  }
}

const FILE = "checkpoint.key";
const OWNER_ONLY = 0o600;

/**
 * Returns the key as PEM text.
 *
 * @throws {DataError} DATA_DAMAGED if the file does not contain an Ed25519 key
 */
export function checkpointKeyOf(folder: string): string {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeWholeFile(path, `${privateKey.export({ type: "pkcs8", format: "pem" })}`, OWNER_ONLY);
  }
  const pem = readFileSync(path, "utf8");
  if (!isKey(pem)) {
    throw new DataError(
      "DATA_DAMAGED",
      `${path} does not contain a valid key for signing checkpoints: restore the file from a backup, or remove it to let the node create a new key`,
    );
  }
  return pem;
}

export const keyOfPem = (pem: string): KeyObject => createPrivateKey(pem);

function isKey(pem: string): boolean {
  try {
    return keyOfPem(pem).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}
