/** Members of search bodies (http-api.md 6) as schemas. Numbers may come as text, as in a query. */
import { type TObject, type TProperties, type TSchema, Type } from "../../platform/json/schema.ts";
import { type FormatName, formats } from "./parameters.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/** The value itself, or the text of it. */
const orText = <V extends TSchema>(value: V, format: FormatName) =>
  Type.Union([value, Type.String({ format })], { description: formats[format].description });

export const uintValue = orText(Type.Integer({ minimum: 0, maximum: MAX }), "uint");
export const positiveValue = orText(Type.Integer({ minimum: 1, maximum: MAX }), "uint+");
export const intValue = orText(Type.Integer({ minimum: -MAX, maximum: MAX }), "int");
export const percentageValue = orText(Type.Number({ minimum: 0, maximum: 100 }), "percentage");
export const boolValue = orText(Type.Boolean(), "bool");

/** `{ "from": n, "to": n }`: both ends belong to it, and each may be left out. */
export const interval = <V extends TSchema>(value: V) =>
  Type.Object({ from: Type.Optional(value), to: Type.Optional(value) }, { additionalProperties: false });

/** A list without repetitions. */
export const distinct = <V extends TSchema>(value: V, maxItems: number) =>
  Type.Array(value, { minItems: 1, maxItems, uniqueItems: true });

/** A body of exactly these members. */
export const body = <P extends TProperties>(members: P): TObject<{ [K in keyof P]: P[K] }> =>
  Type.Object(members, { additionalProperties: false });
