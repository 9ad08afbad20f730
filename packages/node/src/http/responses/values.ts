/**
 * Values in responses (http-api.md 5) and their schemas. Amounts are decimal text nearly everywhere, and a JSON integer
 * with all its digits, also beyond 2^53, if interface.md 4 has an integer.
 */
import { Type } from "../../platform/json/schema.ts";

/** Decimal text of the smallest unit; may be negative. */
export const amount = Type.String({ pattern: "^-?[0-9]+$" });
/** JSON integer of the smallest unit with all its digits, also beyond 2^53. */
export const wholeAmount = Type.Integer({
  description: "In the smallest unit, with all digits, also beyond 2^53.",
});
export const count = Type.Integer({ minimum: 0 });
/** Decimal text of a count. */
export const countText = Type.String({ pattern: "^[0-9]+$" });
export const id = Type.String({ pattern: "^[0-9a-f]{64}$" });
/** Block id; short ids are decimal. */
export const blockId = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-f]{64})$" });
export const publicKey = Type.String({ pattern: "^[0-9a-f]{66}$" });
export const address = Type.String({ pattern: "^[0-9A-Za-z]{34}$" });
/** Username of a delegate: a name, or the id of a unik. */
export const username = Type.String({ minLength: 1, maxLength: 64 });
export const hex = Type.String({ pattern: "^[0-9a-f]*$" });

// Every supported runtime has it; the compiler's library does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Wraps decimal digits as a JSON integer, which JSON.stringify writes unchanged. */
export const integer = (digits: string): number => rawJSON(digits) as number;

/** Fees that the old network always returns for its group 2, whose types were never used with other fees. */
export const ENTITY_FEES = {
  entityRegistration: "5000000000",
  entityResignation: "500000000",
  entityUpdate: "500000000",
} as const;
