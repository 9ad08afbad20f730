/** The NFT payload: a token and some of its properties (transactions.md 6.5). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import type { NftAsset, NftToken } from "../../transaction.ts";
import { hashText } from "../members.ts";
import { addProperty } from "../properties.ts";
import type { MemberSchema } from "../type.ts";
import { untypedHex, untypedText } from "../untyped.ts";

/** Length of a value that is `null`: the property is deleted. */
const DELETED = -1;

/** Values are checked for their length only, and names with a line break escape the pattern (transactions.md 8.3). */
const properties: MemberSchema = {
  type: "object",
  minProperties: 1,
  maxProperties: 255,
  propertyNames: { maxLength: 255 },
  patternProperties: { "^.*$": { maxLength: 255 } },
};

/** Schema of `asset.nft`; `required` are the members that each token must have. */
export const nftSchema = (required: readonly (keyof NftToken)[]): MemberSchema => ({
  type: "object",
  patternProperties: {
    "^.*$": { type: "object", properties: { tokenId: hashText, properties }, required },
  },
});

/**
 * Writes the first token; further ones are dropped.
 *
 * @throws {TypeError} without a token, on an empty token name, or on a value that is neither text nor null
 */
export function writeNft(nft: NftAsset, writer: ByteWriter): void {
  const [name, token] = Object.entries(nft)[0] ?? [];
  if (!name || !token) throw new TypeError("asset.nft must have a token with a name");
  writer.shortText(name);
  writer.bytes(untypedHex(token.tokenId, "tokenId"));
  // The order of transactions.md 11 is the one in which JavaScript enumerates.
  const entries = Object.entries(token.properties ?? {});
  writer.u8(entries.length);
  for (const [key, value] of entries) {
    writer.shortText(key);
    if (value === null) writer.i16(DELETED);
    else {
      const bytes = untypedText(value, `the property ${key}`);
      writer.i16(bytes.length);
      writer.bytes(bytes);
    }
  }
}

export function readNft(reader: ByteReader): NftAsset {
  const name = reader.text(reader.u8());
  const tokenId = reader.hex(32);
  const count = reader.u8();
  // A computed name creates an own member even for the reserved name.
  return { [name]: count === 0 ? { tokenId } : { tokenId, properties: readProperties(reader, count) } };
}

function readProperties(reader: ByteReader, count: number): Record<string, string | null> {
  const properties: Record<string, string | null> = {};
  for (let i = 0; i < count; i++) {
    const key = reader.text(reader.u8());
    const length = reader.i16();
    if (length < DELETED) throw new RangeError(`a property value cannot have ${length} bytes`);
    addProperty(properties, key, length === DELETED ? null : reader.text(length));
  }
  return properties;
}
