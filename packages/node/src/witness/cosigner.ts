/** The key of a witness, and its signatures (C2SP tlog-cosignature, version 1). */
import { createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import { present } from "../platform/present.ts";

/** Identifier of timestamped Ed25519 cosignatures in signed notes. */
const ALGORITHM = 4;
const KEY_HASH_BYTES = 4;
const TIME_BYTES = 8;

export class Cosigner {
  /** Key for verifiers, as `NAME+HASH+KEY`. */
  readonly verifierKey: string;
  readonly #key: KeyObject;
  readonly #name: string;
  readonly #keyHash: Buffer;

  /**
   * @param key private Ed25519 key
   * @param name of the witness, without spaces; by default derived from the key
   */
  constructor(key: KeyObject, name?: string) {
    const { x } = createPublicKey(key).export({ format: "jwk" });
    const raw = Buffer.from(present(x, "the public key"), "base64url");
    const publicKey = Buffer.concat([Buffer.of(ALGORITHM), raw]);
    this.#key = key;
    this.#name = name ?? `uniknode-witness-${raw.toString("hex").slice(0, 16)}`;
    const digest = hash("sha256", Buffer.concat([Buffer.from(`${this.#name}\n`), publicKey]), "buffer");
    this.#keyHash = digest.subarray(0, KEY_HASH_BYTES);
    this.verifierKey = `${this.#name}+${this.#keyHash.toString("hex")}+${publicKey.toString("base64")}`;
  }

  /**
   * Returns the line of a signature.
   *
   * @param text signed text of a note, without its signatures
   */
  cosign(text: string, unixSeconds: number): string {
    const time = Buffer.alloc(TIME_BYTES);
    time.writeBigUInt64BE(BigInt(unixSeconds));
    const message = Buffer.from(`cosignature/v1\ntime ${unixSeconds}\n${text}`);
    const signature = Buffer.concat([this.#keyHash, time, sign(null, message, this.#key)]);
    return `\u2014 ${this.#name} ${signature.toString("base64")}\n`;
  }
}
