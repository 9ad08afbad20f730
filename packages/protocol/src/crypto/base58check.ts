/** base58check: payload and the first four bytes of its double SHA-256 (identities.md 1). */
import { base58check } from "#primitives";

/** Text of a payload of any length. */
export const encodeBase58check = (payload: Uint8Array): string => base58check.encode(payload);

/**
 * Payload of a text; its length is not checked.
 *
 * @throws {Error} on a character outside the Bitcoin alphabet, a text too short or a wrong checksum
 */
export const decodeBase58check = (text: string): Uint8Array => base58check.decode(text);
