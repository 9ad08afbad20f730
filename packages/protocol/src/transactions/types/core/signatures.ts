/** 1/1 registration of a second public key, and 1/4 of a multi-signature wallet (transactions.md 6.3). */

import type { ByteWriter } from "../../../bytes/cursor.ts";
import { assetMember } from "../../asset.ts";
import type { Asset } from "../../transaction.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { alphanumericText, distinctItems, none, publicKeyText, record, u63 } from "../members.ts";
import type { MemberSchema, TransactionType, TypeSchema } from "../type.ts";

export const secondSignature: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 1,
  key: "secondSignature",
  schema: {
    required: ["asset"],
    properties: {
      amount: none,
      fee: u63(1),
      // Never second-signed itself.
      secondSignature: { not: {} },
      asset: record({ signature: record({ publicKey: publicKeyText }) }),
    },
  },
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "signature").publicKey, 33),
  read: (reader) => ({ asset: { signature: { publicKey: reader.hex(33) } } }),
  staticFee: () => 500_000_000n,
};

const MAX_PARTICIPANTS = 16;
const participants = { minItems: 1, maxItems: MAX_PARTICIPANTS };

/** Schema of `minimum` to `maximum` entries: relative JSON pointers to other members. */
const signatures = (minimum: string, maximum: string): MemberSchema =>
  distinctItems(
    { ...alphanumericText, minLength: 130, maxLength: 130 },
    { minItems: { $data: minimum }, maxItems: { $data: maximum } },
  );

const multiSignatureSchema: TypeSchema = {
  required: ["asset", "signatures"],
  properties: {
    amount: none,
    fee: u63(1),
    asset: record({
      multiSignature: record({
        min: { type: "integer", minimum: 1, maximum: { $data: "1/publicKeys/length" } },
        publicKeys: distinctItems(publicKeyText, participants),
      }),
    }),
    signatures: signatures("1/asset/multiSignature/min", "1/asset/multiSignature/publicKeys/length"),
  },
};

const legacySchema: TypeSchema = {
  required: ["asset"],
  properties: {
    version: { enum: [null, 1] },
    amount: none,
    fee: u63(1),
    asset: record({
      multiSignatureLegacy: record({
        min: { type: "integer", minimum: 1, maximum: { $data: "1/keysgroup/length" } },
        lifetime: { type: "integer", minimum: 1, maximum: 72 },
        keysgroup: {
          type: "array",
          ...participants,
          items: { type: "string", minLength: 67, maxLength: 67, lowerCase: true },
        },
      }),
    }),
    signatures: signatures(
      "1/asset/multiSignatureLegacy/min",
      "1/asset/multiSignatureLegacy/keysgroup/length",
    ),
  },
};

export const multiSignature: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 4,
  key: "multiSignature",
  schema: multiSignatureSchema,
  legacySchema,
  write({ version, asset }, writer) {
    if (version === 1) writeLegacy(assetMember(asset, "multiSignatureLegacy"), writer);
    else {
      const { min, publicKeys } = assetMember(asset, "multiSignature");
      writer.u8(min);
      writer.u8(publicKeys.length);
      for (const publicKey of publicKeys) writer.hex(publicKey, 33);
    }
  },
  read(reader, version) {
    const min = reader.u8();
    const count = reader.u8();
    if (version === 1) {
      const lifetime = reader.u8();
      const keysgroup = Array.from({ length: count }, () => `+${reader.hex(33)}`);
      return { asset: { multiSignatureLegacy: { min, lifetime, keysgroup } } };
    }
    const publicKeys = Array.from({ length: count }, () => reader.hex(33));
    return { asset: { multiSignature: { min, publicKeys } } };
  },
  staticFee: () => 500_000_000n,
  feeUnits: ({ asset }) => BigInt((asset?.multiSignature?.publicKeys.length ?? 0) + 1),
};

/** Writes the layout of version 1. */
function writeLegacy(
  { min, lifetime, keysgroup }: NonNullable<Asset["multiSignatureLegacy"]>,
  writer: ByteWriter,
): void {
  writer.u8(min);
  writer.u8(keysgroup.length);
  writer.u8(lifetime);
  for (const key of keysgroup) writer.hex(key.startsWith("+") ? key.slice(1) : key, 33);
}
