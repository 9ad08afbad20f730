/** Addresses inside bytes (transactions.md 6.2). */
import type { ByteReader } from "../bytes/reader.ts";
import type { ByteWriter } from "../bytes/writer.ts";
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";

/** Version byte and RIPEMD-160 hash. */
const PAYLOAD_BYTES = 21;

/**
 * Payloads of the addresses read last, since a transaction is encoded again for its id after it was read. Each
 * conversion of base58check takes 2 us, a third of the time without this.
 */
const recent = new Map<string, Uint8Array>();
const MAX_RECENT = 1024;

export function readAddress(reader: ByteReader): string {
  // A copy, or it would keep the bytes of a complete block in memory.
  const payload = new Uint8Array(reader.take(PAYLOAD_BYTES));
  const address = encodeBase58check(payload);
  if (recent.size >= MAX_RECENT) recent.clear();
  recent.set(address, payload);
  return address;
}

/**
 * The bytes of an address, of any length.
 *
 * @throws {Error} if the text is no base58check
 */
export const addressPayload = (address: string): Uint8Array =>
  recent.get(address) ?? decodeBase58check(address);

/** @throws {Error} if the text is no base58check */
export const writeAddress = (writer: ByteWriter, address: string): void =>
  writer.bytes(addressPayload(address));
