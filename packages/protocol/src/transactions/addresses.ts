/** Addresses inside bytes (transactions.md 6.2). */
import type { ByteReader } from "../bytes/reader.ts";
import type { ByteWriter } from "../bytes/writer.ts";
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";

/** Version byte and RIPEMD-160 hash. */
const PAYLOAD_BYTES = 21;

export const readAddress = (reader: ByteReader): string => encodeBase58check(reader.take(PAYLOAD_BYTES));

/**
 * Writes the payload of an address, of whatever length it is.
 *
 * @throws {Error} if the text is no base58check
 */
export const writeAddress = (writer: ByteWriter, address: string): void =>
  writer.bytes(decodeBase58check(address));
