/** Schemas of the kinds of values in responses (http-api.md 5). */
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
