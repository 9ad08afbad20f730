/**
 * How the secrets of webhooks lie in the database: as they are, or sealed with a key of the operator's (webhooks.md
 * 10 point 14). AES-256-GCM with a random nonce; whose secret it is goes in as associated data, so that a sealed
 * text opens in its own place only.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";

export type Seal = {
  /** The text that is kept for a secret; `owner` tells whose it is. */
  close(secret: string, owner: string): string;
  /** @throws {SealError} */
  open(kept: string, owner: string): string;
};

/** A kept text does not open: it was changed, belongs to another owner, or asks for another key. No retry helps. */
export class SealError extends Error {
  readonly code = "SEAL_BROKEN";
  readonly isRetryable = false;

  constructor(owner: string, cause?: unknown) {
    super(
      `the secret of ${owner} was changed outside of the node, or sealed with another key; bring the data folder back from a copy`,
      { cause },
    );
    this.name = "SealError";
  }
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Before nonce, tag and sealed bytes in base64; no secret begins so. */
const MARK = "sealed:";
/** Opened secrets that are remembered: every attempt of a delivery needs one. */
const MAX_OPENED = 10_000;

export const createSalt = (): string => randomBytes(SALT_BYTES).toString("base64");

/** The key from the content of a key file; the salt makes it another one in every data folder. */
export const deriveKey = (content: string, salt: string): Uint8Array => scryptSync(content, salt, KEY_BYTES);

/** Secrets as they are. */
export const OPEN_SEAL: Seal = {
  close: (secret) => secret,
  open(kept, owner) {
    if (kept.startsWith(MARK)) throw new SealError(owner);
    return kept;
  },
};

/** @param key of `deriveKey`; absent: secrets are kept as they are */
export function createSeal(key: Uint8Array | undefined): Seal {
  if (key === undefined) return OPEN_SEAL;
  const opened = new Map<string, string>();

  function decipher(kept: string, owner: string): string {
    if (!kept.startsWith(MARK)) throw new SealError(owner);
    const bytes = Buffer.from(kept.slice(MARK.length), "base64");
    const [nonce, tag, sealed] = [
      bytes.subarray(0, NONCE_BYTES),
      bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
      bytes.subarray(NONCE_BYTES + TAG_BYTES),
    ];
    try {
      const cipher = createDecipheriv(CIPHER, key!, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
      return Buffer.concat([cipher.update(sealed), cipher.final()]).toString();
    } catch (cause) {
      throw new SealError(owner, cause);
    }
  }

  return {
    close(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
        Buffer.from(owner),
      );
      const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
      return `${MARK}${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")}`;
    },
    open(kept, owner) {
      const name = `${owner} ${kept}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const secret = decipher(kept, owner);
      if (opened.size >= MAX_OPENED) opened.clear();
      opened.set(name, secret);
      return secret;
    },
  };
}
