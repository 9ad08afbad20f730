/** Members of search bodies (http-api.md section 6) as schemas. Numbers may come as text, as in a query. */
import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import { bool, int, positive, uint } from "./parameters.ts";

const MAX = Number.MAX_SAFE_INTEGER;

export const uintValue = Type.Union([Type.Integer({ minimum: 0, maximum: MAX }), uint]);
export const positiveValue = Type.Union([Type.Integer({ minimum: 1, maximum: MAX }), positive]);
export const intValue = Type.Union([Type.Integer({ minimum: -MAX, maximum: MAX }), int]);
export const boolValue = Type.Union([Type.Boolean(), bool]);

/** `{ "from": n, "to": n }`: both ends belong to it, and each may be left out. */
export const interval = <V extends TSchema>(value: V) =>
  Type.Object({ from: Type.Optional(value), to: Type.Optional(value) }, { additionalProperties: false });

/** A list without repetitions. */
export const distinct = <V extends TSchema>(value: V, maxItems: number) =>
  Type.Array(value, { minItems: 1, maxItems, uniqueItems: true });

/** A body of exactly these members. */
export const body = <P extends TProperties>(members: P): TObject<{ [K in keyof P]: P[K] }> =>
  Type.Object(members, { additionalProperties: false });
