/** base58check: payload and the first four bytes of its double SHA-256 (identities.md 1). */
import { createBase58check } from "@scure/base";
import { sha256 } from "./hashes.ts";

const coder = createBase58check(sha256);

/** Text of a payload of any length. */
export const encodeBase58check = (payload: Uint8Array): string => coder.encode(payload);

/**
 * Payload of a text; its length is not checked.
 *
 * @throws {Error} on a character outside the Bitcoin alphabet, a text too short or a wrong checksum
 */
export const decodeBase58check = (text: string): Uint8Array => coder.decode(text);
