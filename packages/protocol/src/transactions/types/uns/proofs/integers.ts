/** Encoding of the 64-bit integers of UNS payloads (transactions.md 6.6). */
import type { ByteReader, ByteWriter } from "../../../../bytes/cursor.ts";

const I64_MAX = 2n ** 63n - 1n;

/**
 * Writes the time `iat` in seconds. It is a JavaScript number even if the bytes had more than its 53 bits, so the
 * written bytes may differ from the read ones: fractions are truncated, 2^63 and above become 2^63 - 1,
 * negative values are written in two's complement.
 *
 * @throws {TypeError} if it is not a number
 */
export function writeTime(seconds: unknown, writer: ByteWriter): void {
  if (typeof seconds !== "number") throw new TypeError("iat must be a time in seconds");
  writer.u64(seconds >= 2 ** 63 ? I64_MAX : BigInt(Math.trunc(seconds)));
}

/** Precision is lost above 2^53. */
export const readTime = (reader: ByteReader): number => Number(reader.u64());

/**
 * Reads the cost of a certification: decimal text or a safe integer in JSON.
 *
 * @throws {TypeError} on anything else
 */
export function costOf(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value) || (typeof value === "string" && /^\d+$/.test(value))) {
    return BigInt(value as number | string);
  }
  throw new TypeError("cost must be an integer in the smallest unit");
}
