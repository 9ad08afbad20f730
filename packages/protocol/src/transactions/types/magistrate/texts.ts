/** Text fields of the magistrate types (transactions.md 6.4). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import { untypedText } from "../untyped.ts";

/** Writes the number of bytes, then the UTF-8. */
export function writeText(text: unknown, writer: ByteWriter): void {
  const bytes = untypedText(text, "a text of the asset");
  writer.u8(bytes.length);
  writer.bytes(bytes);
}

/** An absent text has length 0, and so has `null`. */
export function writeOptionalText(text: unknown, writer: ByteWriter): void {
  if (text) writeText(text, writer);
  else writer.u8(0);
}

/** A trap of transactions.md 6.4: the length is read as a number of characters, so only ASCII is read as written. */
export const readText = (reader: ByteReader): string => reader.characters(reader.u8());

export function writeTexts(texts: readonly string[], writer: ByteWriter): void {
  writer.u8(texts.length);
  for (const text of texts) writeText(text, writer);
}

export const readTexts = (reader: ByteReader): string[] =>
  Array.from({ length: reader.u8() }, () => readText(reader));
