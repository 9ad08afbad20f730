/** Converts schemas for the document: a value that is sent as text gets the schema of the value. */
import { type Format, formats } from "../requests/parameters.ts";

export type Schema = Readonly<Record<string, unknown>>;

const byName: Readonly<Record<string, Format>> = formats;

/** Removes the texts that repeat a number of the list. */
const valuesOf = (choices: readonly unknown[]): unknown[] =>
  choices.filter(
    (choice) => typeof choice !== "string" || !choices.some((other) => other === Number(choice)),
  );

/** Returns a deep copy with our own formats replaced. Choices that become equal are merged. */
export function documentSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(documentSchema);
  if (typeof value !== "object" || value === null) return value;
  const { format, ...rest } = value as Schema;
  const known = typeof format === "string" ? byName[format] : undefined;
  if (known) return { ...rest, ...known.shown };
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, documentSchema(member)]),
  );
  if (Array.isArray(copy.enum)) return { ...copy, enum: valuesOf(copy.enum) };
  if (!Array.isArray(copy.anyOf)) return copy;
  const { anyOf, ...others } = copy;
  const [first, ...more] = [...new Map(anyOf.map((choice) => [JSON.stringify(choice), choice])).values()];
  return more.length === 0 ? { ...first, ...others } : { ...others, anyOf: [first, ...more] };
}
