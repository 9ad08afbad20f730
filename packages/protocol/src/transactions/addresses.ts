/** Addresses inside bytes (transactions.md 6.2). */
import { fromHex } from "#primitives";
import type { ByteReader, ByteWriter } from "../bytes/cursor.ts";
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";

/** Version byte and RIPEMD-160 hash. */
const PAYLOAD_BYTES = 21;

/**
 * Cache of recently read addresses and their payloads: a transaction is encoded again for its id after it was
 * read, and most wallets are paid more than once. Each base58check conversion costs 2 us, a third of the time
 * without the cache.
 */
const addresses = new Map<string, string>();
const payloads = new Map<string, Uint8Array>();
const MAX_RECENT = 1024;

export function readAddress(reader: ByteReader): string {
  const digits = reader.hex(PAYLOAD_BYTES);
  const known = addresses.get(digits);
  if (known !== undefined) return known;
  const payload = fromHex(digits);
  const address = encodeBase58check(payload);
  if (addresses.size >= MAX_RECENT) {
    deleteOldest(addresses);
    deleteOldest(payloads);
  }
  addresses.set(digits, address);
  payloads.set(address, payload);
  return address;
}

/** Deletes the entry that was added first: tracking recent use would cost more than converting an address again. */
function deleteOldest(entries: Map<string, unknown>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}

/**
 * Returns the bytes of an address, of any length.
 *
 * @throws {Error} if the text is not base58check
 */
export const addressPayload = (address: string): Uint8Array =>
  payloads.get(address) ?? decodeBase58check(address);

/** @throws {Error} if the text is not base58check */
export const writeAddress = (writer: ByteWriter, address: string): void =>
  writer.bytes(addressPayload(address));
