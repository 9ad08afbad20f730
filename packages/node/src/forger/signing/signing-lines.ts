/**
 * Text of a signing record: a line with format and version, then a line for each signing, which is
 * `NETHASH PUBLIC_KEY SLOT HEIGHT BLOCK_ID CHECKSUM`. If a key has several lines for one network, the highest slot counts.
 */
import { crc32 } from "node:zlib";
import type { Signing } from "./signing-record.ts";

export type SigningEntry = Signing & { readonly nethash: string };

const FORMAT = "uniknode-signing-record";
export const FIRST_LINE = `${FORMAT} 1\n`;

const ENTRY = /^(([0-9a-f]{64}) ([0-9a-f]{66}) (\d{1,10}) (\d{1,10}) (\d{1,20}|[0-9a-f]{64})) ([0-9a-f]{8})$/;

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, "0");

export function entryLine({ nethash, publicKey, slot, height, blockId }: SigningEntry): string {
  const text = `${nethash} ${publicKey} ${slot} ${height} ${blockId}`;
  return `${text} ${checksumOf(text)}\n`;
}

function readEntry(line: string): SigningEntry | undefined {
  const match = ENTRY.exec(line);
  if (!match) return undefined;
  const [, text = "", nethash = "", publicKey = "", slot, height, blockId = "", checksum] = match;
  if (checksumOf(text) !== checksum) return undefined;
  return { nethash, publicKey, slot: Number(slot), height: Number(height), blockId };
}

/**
 * Reads a record. A crash while writing leaves an incomplete last line: its block was never sent, and
 * it does not count.
 *
 * @throws {Error} that names the line, if anything else is wrong
 */
export function readEntries(content: string): SigningEntry[] {
  if (!content.startsWith(FIRST_LINE)) {
    const isOther = content.startsWith(`${FORMAT} `);
    throw new Error(isOther ? "unsupported version" : "line 1 is not the header of a signing record");
  }
  const lines = content.slice(FIRST_LINE.length).split("\n");
  return lines.flatMap((line, index) => {
    const entry = readEntry(line);
    if (entry) return [entry];
    // After a power failure, file blocks that were not written to the disk are zeros, even within a line.
    const isLast = index === lines.length - 1 || (index === lines.length - 2 && lines.at(-1) === "");
    const isTorn = isLast && (index === lines.length - 1 || line.includes("\0"));
    if (!isTorn) throw new Error(`line ${index + 2} is damaged`);
    return [];
  });
}
