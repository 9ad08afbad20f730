/** Schemas of members that several types share (transactions.md 8.1 and 8.3). */
import type { MemberSchema } from "./type.ts";

/** One or more hexadecimal digits of either letter case. */
export const hexText: MemberSchema = { type: "string", pattern: "^[0-9a-fA-F]+$" };

export const base58Text: MemberSchema = { type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]+$" };

export const alphanumericText: MemberSchema = { type: "string", pattern: "^[a-zA-Z0-9]+$" };

/** Hexadecimal of 32 bytes: an id or a hash. */
export const hashText: MemberSchema = { ...hexText, minLength: 64, maxLength: 64 };

/** Converted to lower case in place. */
export const publicKeyText: MemberSchema = { ...hexText, minLength: 66, maxLength: 66, lowerCase: true };

export const addressText: MemberSchema = { ...base58Text, minLength: 34, maxLength: 34 };

/** The limit is the one in force, in bytes (transactions.md 4). */
export const vendorFieldText: MemberSchema = {
  anyOf: [{ type: "null" }, { type: "string", vendorField: true }],
};

/** An integer of 63 bits in any of its JSON forms; it becomes a `bigint` in place. */
export const u63 = (minimum: number, maximum?: number): MemberSchema => ({
  u63: { minimum, ...(maximum !== undefined && { maximum }) },
});

export const none: MemberSchema = u63(0, 0);

/** An object; all its members are required unless `required` is given. */
export const record = (
  properties: Record<string, MemberSchema>,
  required: readonly string[] = Object.keys(properties),
): MemberSchema => ({ type: "object", properties, required });

/** A vote: sign and key, in lower case afterwards. */
export const voteText: MemberSchema = {
  type: "string",
  // The sign may also be a bar, and the key need not be hexadecimal: the encoder reads the valid part.
  pattern: "^[+|\\-][a-zA-Z0-9]{66}$",
  lowerCase: true,
};

/** Distinct after the conversion of the items to lower case. */
export const distinctItems = (items: MemberSchema, bounds: MemberSchema): MemberSchema => ({
  type: "array",
  ...bounds,
  // In the order of evaluation: the items are rewritten before they are compared.
  allOf: [{ items }, { uniqueItems: true }],
});
