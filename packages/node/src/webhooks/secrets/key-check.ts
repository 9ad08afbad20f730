/** Check of the key of a database: its salt, and a known text that is encrypted with the key. */
import { createSalt, createSecretCipher, deriveKey, EncryptionError } from "./encryption.ts";

const CHECKED = "uniknode";

/** Derives a key from the content of a key file, with a new salt. */
export function createKey(content: string): { readonly key: Uint8Array; readonly check: string } {
  const salt = createSalt();
  const key = deriveKey(content, salt);
  return { key, check: `${salt} ${createSecretCipher(key).encrypt(CHECKED, CHECKED)}` };
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
    createSecretCipher(key).decrypt(encrypted, CHECKED);
    return true;
  } catch (error) {
    if (error instanceof EncryptionError) return false;
    throw error;
  }
}
