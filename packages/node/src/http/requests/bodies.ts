/** Members of search bodies (http-api.md 6) as schemas. Numbers may come as text, as in a query. */
import { type TObject, type TProperties, type TSchema, Type } from "../../platform/json/schema.ts";
import { type FormatName, formats } from "./parameters.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/** Schema of a value or its text. */
const orText = <V extends TSchema>(value: V, format: FormatName) =>
  Type.Union([value, Type.String({ format })], { description: formats[format].description });

export const uintValue = orText(Type.Integer({ minimum: 0, maximum: MAX }), "uint");
export const positiveValue = orText(Type.Integer({ minimum: 1, maximum: MAX }), "uint+");
export const intValue = orText(Type.Integer({ minimum: -MAX, maximum: MAX }), "int");
export const percentageValue = orText(Type.Number({ minimum: 0, maximum: 100 }), "percentage");
export const boolValue = orText(Type.Boolean(), "bool");

/** Schema of `{ "from": n, "to": n }`: both ends are included, and each is optional. */
export const interval = <V extends TSchema>(value: V) =>
  Type.Object({ from: Type.Optional(value), to: Type.Optional(value) }, { additionalProperties: false });

/** Schema of a list without duplicates. */
export const distinct = <V extends TSchema>(value: V, maxItems: number) =>
  Type.Array(value, { minItems: 1, maxItems, uniqueItems: true });

/** Schema of a body that allows only these members. */
export const body = <P extends TProperties>(members: P): TObject<{ [K in keyof P]: P[K] }> =>
  Type.Object(members, { additionalProperties: false });
