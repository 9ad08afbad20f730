/** Parses the secret of a webhook, in the form of the node's response or of libraries for Standard Webhooks. */
import { argumentError } from "../api/request.ts";

export type Secret = {
  /** Key of the signatures. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** Value of `Authorization`: the first half of the secret's 64 digits (webhooks.md 7.2). */
  readonly half: string;
};

const BYTES = 32;

/**
 * Reads `64 hexadecimal digits`, or `whsec_` and the base64 of the same 32 bytes.
 *
 * @throws {TypeError} for anything else; the message does not contain it
 */
export function readSecret(text: unknown): Secret {
  const key = typeof text === "string" ? (fromHex(text) ?? fromBase64(text)) : undefined;
  if (key?.length !== BYTES) {
    throw argumentError(
      "the secret must be the 64 hexadecimal digits that the node returned as token, or whsec_ and their bytes in base64",
    );
  }
  const digits = Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { key, half: digits.slice(0, BYTES) };
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[0-9a-f]{64}$/i.test(text)) return undefined;
  return Uint8Array.from({ length: BYTES }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  return base64 === undefined ? undefined : bytesOfBase64(base64);
}

/** Returns undefined for invalid base64. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
