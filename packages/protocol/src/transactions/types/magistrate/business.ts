/** The four texts of a business (transactions.md 6.4). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import type { BusinessAsset } from "../../transaction.ts";
import { readText, writeOptionalText } from "./texts.ts";

/** `writeName` is how name and website are written: they are required in a registration only. */
export function writeBusiness(
  { name, website, vat, repository }: Partial<BusinessAsset>,
  writer: ByteWriter,
  writeName: (text: unknown, writer: ByteWriter) => void = writeOptionalText,
): void {
  writeName(name, writer);
  writeName(website, writer);
  writeOptionalText(vat, writer);
  writeOptionalText(repository, writer);
}

/** An empty text is an absent one. */
export function readBusiness(reader: ByteReader): Partial<BusinessAsset> {
  const name = readText(reader);
  const website = readText(reader);
  const vat = readText(reader);
  const repository = readText(reader);
  return {
    ...(name && { name }),
    ...(website && { website }),
    ...(vat && { vat }),
    ...(repository && { repository }),
  };
}
