/** Schemas of magistrate members (transactions.md 8.3). */
import { TYPE_GROUPS } from "../../type-groups.ts";
import { none } from "../members.ts";
import type { MemberSchema, TypeSchema } from "../type.ts";

/** Groups of letters and digits; a hyphen may have a space on both sides. */
export const genericName: MemberSchema = {
  type: "string",
  minLength: 1,
  maxLength: 40,
  pattern: "^[a-zA-Z0-9]+(?:(?: - |[ ._-])[a-zA-Z0-9]+)*\\.?$",
};

/** The type is not restricted to texts: the encoder checks other values. */
export const uri: MemberSchema = {
  minLength: 4,
  maxLength: 80,
  pattern: "^[a-zA-Z][a-zA-Z0-9+,\\-.]*:\\S*$",
};

export const vat: MemberSchema = {
  type: "string",
  minLength: 8,
  maxLength: 15,
  pattern: "^[a-zA-Z0-9]+$",
};

export const businessMembers = { name: genericName, website: uri, vat, repository: uri };

export const seedNodes: MemberSchema = {
  type: "array",
  minItems: 1,
  maxItems: 10,
  uniqueItems: true,
  items: { type: "string", seedNode: true },
};

/** Ports by package name; names that are too long, or have a line break, are removed. */
export const ports: MemberSchema = {
  type: "object",
  minProperties: 1,
  maxProperties: 10,
  required: ["@arkecosystem/core-api"],
  additionalProperties: false,
  patternProperties: { "^.{1,214}$": { type: "integer", minimum: 0, maximum: 65535 } },
};

/** Schema of a magistrate type. The group is required, or a batch matches the transaction with another type. */
export const magistrateSchema = (asset?: MemberSchema): TypeSchema => ({
  required: asset ? ["typeGroup", "asset"] : ["typeGroup"],
  properties: { typeGroup: { const: TYPE_GROUPS.magistrate }, amount: none, ...(asset && { asset }) },
});
