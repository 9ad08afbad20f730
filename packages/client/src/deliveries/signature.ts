/** Signatures of the Standard Webhooks 1.0 specification, symmetric scheme `v1`. */
import { bytesOfBase64 } from "./secret.ts";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };
const VERSION = "v1,";

/**
 * Returns true if one of the header's signatures was made with one of the keys. The header lists signatures
 * with spaces between them: while a secret is replaced, one of each secret; signatures of other versions are
 * ignored.
 */
export async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  header: string,
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const signatures = header
    .split(" ")
    .filter((signature) => signature.startsWith(VERSION))
    .map((signature) => bytesOfBase64(signature.slice(VERSION.length)));
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, ["verify"]);
    for (const signature of signatures) {
      // In constant time.
      if (signature && (await crypto.subtle.verify(ALGORITHM, key, signature, message))) return true;
    }
  }
  return false;
}
