/** 2/6 registration, change or resignation of an entity (transactions.md 6.4). */

import { hexToBytes } from "../../../crypto/bytes.ts";
import { present } from "../../../present.ts";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { base58Text, hashText } from "../members.ts";
import type { MemberSchema, TransactionType } from "../type.ts";
import { magistrateSchema } from "./members.ts";
import { readText, writeOptionalText } from "./texts.ts";

/** Values of `action`. */
export const REGISTER = 0;
export const UPDATE = 1;
export const RESIGN = 2;

const byte: MemberSchema = { type: "integer", minimum: 0, maximum: 255 };

const name: MemberSchema = {
  type: "string",
  minLength: 1,
  maxLength: 40,
  pattern: "^[a-zA-Z0-9_!@$&.-]+$",
};

const ipfsData: MemberSchema = { ...base58Text, minLength: 1, maxLength: 128 };

/** Data is checked last, since an update removes unknown members. */
const action = (number: number, required: readonly string[], data: MemberSchema): MemberSchema => ({
  required: ["type", "subType", "action", "data", ...required],
  properties: {
    type: byte,
    subType: byte,
    registrationId: hashText,
    action: { const: number },
    data: { type: "object", ...data },
  },
});

export const entity: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 6,
  key: "entity",
  schema: magistrateSchema({
    type: "object",
    anyOf: [
      action(REGISTER, [], { required: ["name"], properties: { name, ipfsData } }),
      action(UPDATE, ["registrationId"], { additionalProperties: false, properties: { ipfsData } }),
      action(RESIGN, ["registrationId"], { maxProperties: 0 }),
    ],
  }),
  write({ asset }, writer) {
    const { type = 0, subType = 0, action = 0, registrationId = "" } = present(asset, "asset");
    const { name, ipfsData } = assetMember(asset, "data");
    writer.u8(type);
    writer.u8(subType);
    writer.u8(action);
    writer.u8(registrationId.length / 2);
    writer.bytes(hexToBytes(registrationId));
    writeOptionalText(name, writer);
    writeOptionalText(ipfsData, writer);
  },
  read(reader) {
    const numbers = { type: reader.u8(), subType: reader.u8(), action: reader.u8() };
    const registrationId = reader.hex(reader.u8());
    const name = readText(reader);
    const ipfsData = readText(reader);
    const data = { ...(name && { name }), ...(ipfsData && { ipfsData }) };
    return { asset: { ...numbers, ...(registrationId && { registrationId }), data } };
  },
  staticFee: ({ asset }) => (asset?.action === REGISTER ? 5_000_000_000n : 500_000_000n),
};
