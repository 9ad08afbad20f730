/**
 * Secrets of webhooks in the database: plain, or encrypted with the operator's key (webhooks.md 10 point 14).
 * AES-256-GCM with a random nonce; the owner is the associated data, so that a text can only be decrypted for its owner.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { Lru } from "../platform/bounded-entries.ts";
import { CodedError, ConfigError } from "../platform/coded-error.ts";
import type { Secrets } from "./model/webhook.ts";

/** A stored text cannot be decrypted: it was changed, belongs to another owner, or needs another key. Not retryable. */
export class EncryptionError extends CodedError<"SEAL_BROKEN"> {
  constructor(owner: string, cause?: unknown) {
    super(
      "SEAL_BROKEN",
      `the secret of ${owner} was changed outside of the node, or encrypted with another key; bring the data folder back from a copy`,
      { isRetryable: false, cause },
    );
  }
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Prefix of an encrypted secret: nonce, tag and encrypted bytes follow in base64. No plain secret has this prefix. */
const MARK = "sealed:";
/** Maximum number of cached decrypted secrets: every attempt of a delivery needs one. */
const MAX_DECRYPTED = 10_000;

export const createSalt = (): string => randomBytes(SALT_BYTES).toString("base64");

/** Derives the key from the content of a key file; the salt makes it different in every data folder. */
export const deriveKey = (content: string, salt: string): Uint8Array => scryptSync(content, salt, KEY_BYTES);

/** Encrypts secrets for their owners, which are names of webhooks or of the register. */
export class SecretCipher {
  readonly #key: Uint8Array | undefined;
  readonly #decrypted = new Lru<string, string>(MAX_DECRYPTED);

  /** @param key result of `deriveKey`; undefined: secrets are plain text */
  constructor(key: Uint8Array | undefined) {
    this.#key = key;
  }

  get isPlain(): boolean {
    return this.#key === undefined;
  }

  encrypt(secret: string, owner: string): string {
    if (this.#key === undefined) return secret;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner));
    const encrypted = Buffer.concat([cipher.update(secret), cipher.final()]);
    return `${MARK}${Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64")}`;
  }

  /** @throws {EncryptionError} */
  decrypt(kept: string, owner: string): string {
    const key = this.#key;
    if (kept.startsWith(MARK) === (key === undefined)) throw new EncryptionError(owner);
    return key === undefined
      ? kept
      : this.#decrypted.get(`${owner} ${kept}`, () => decipher(key, kept, owner));
  }
}

export const PLAIN_SECRETS = new SecretCipher(undefined);

function decipher(key: Uint8Array, kept: string, owner: string): string {
  const bytes = Buffer.from(kept.slice(MARK.length), "base64");
  const [nonce, tag, encrypted] = [
    bytes.subarray(0, NONCE_BYTES),
    bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
    bytes.subarray(NONCE_BYTES + TAG_BYTES),
  ];
  try {
    const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
    return Buffer.concat([cipher.update(encrypted), cipher.final()]).toString();
  } catch (cause) {
    throw new EncryptionError(owner, cause);
  }
}

export type SecretRow = {
  token: string;
  previous_token: string | null;
  previous_until_ms: number | null;
};

/** Returns the name of the owner of a secret, for the cipher. */
export const ownerOf = (webhook: number): string => `webhook ${webhook}`;

/** @throws {EncryptionError} */
export const secretsFromRow = (
  webhook: number,
  { token, previous_token, previous_until_ms }: SecretRow,
  cipher: SecretCipher,
): Secrets => ({
  token: cipher.decrypt(token, ownerOf(webhook)),
  ...(previous_token !== null && {
    previous: {
      token: cipher.decrypt(previous_token, ownerOf(webhook)),
      untilMs: previous_until_ms ?? 0,
    },
  }),
});

/** Minimum length of a key: 16 random bytes in hexadecimal digits. */
const MIN_LENGTH = 32;

/**
 * Returns the trimmed content of the file.
 *
 * @param flag flag that named the file
 * @throws {ConfigError} if the file cannot be read, or is too short for a key
 */
export function readKeyFile(path: string, flag: string): string {
  let content: string;
  try {
    content = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new ConfigError(
      `the key file of ${flag} cannot be read: ${(error as Error).message}; name a file that this user can read`,
    );
  }
  if (content.length >= MIN_LENGTH) return content;
  throw new ConfigError(
    `the key in ${path} (${flag}) must have ${MIN_LENGTH} characters or more; make one with: openssl rand -hex 32`,
  );
}

/** Known text whose encryption, after the salt, is the check of the key of a database. */
const CHECKED = "uniknode";

/** Derives a key from the content of a key file, with a new salt. */
export function createKey(content: string): { readonly key: Uint8Array; readonly check: string } {
  const salt = createSalt();
  const key = deriveKey(content, salt);
  return { key, check: `${salt} ${new SecretCipher(key).encrypt(CHECKED, CHECKED)}` };
}

/** Returns the key of a check, and the content of its file; undefined if no content is that of the key. */
export function findKey(
  check: string,
  contents: readonly (string | undefined)[],
): { readonly content: string; readonly key: Uint8Array } | undefined {
  const [salt, encrypted] = check.split(" ") as [string, string];
  for (const content of contents) {
    if (!content) continue;
    const key = deriveKey(content, salt);
    if (isKey(key, encrypted)) return { content, key };
  }
  return undefined;
}

function isKey(key: Uint8Array, encrypted: string): boolean {
  try {
    new SecretCipher(key).decrypt(encrypted, CHECKED);
    return true;
  } catch (error) {
    if (error instanceof EncryptionError) return false;
    throw error;
  }
}
