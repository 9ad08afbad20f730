/** Shows a schema as readable text, and creates example JSON. */
import type { Schema } from "./openapi.ts";

type Schemas = Readonly<Record<string, Schema>>;

/** Maximum depth; deeper members show the name of their schema. */
const MAX_DEPTH = 5;

/** Formats a schema with the members of objects, `?` after optional ones, and descriptions as comments. */
export const shapeOf = (schema: Schema, schemas: Schemas): string => textOf(schema, schemas, "", 0);

function textOf(schema: Schema, schemas: Schemas, indent: string, depth: number): string {
  const resolved = resolve(schema, schemas);
  const { properties, items, anyOf, type } = resolved;
  if (resolved.enum) return resolved.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (resolved.const !== undefined) return JSON.stringify(resolved.const);
  if (depth >= MAX_DEPTH) return "…";
  if (anyOf) {
    const texts = anyOf.map((choice) => textOf(choice, schemas, indent, depth));
    return [...new Set(texts)].join(" | ");
  }
  if (items) {
    const item = textOf(items, schemas, indent, depth);
    return item.includes(" | ") && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }
  if (properties && Object.keys(properties).length > 0) {
    return membersOf(properties, resolved.required ?? [], schemas, indent, depth);
  }
  return Array.isArray(type) ? type.join(" | ") : ((type as string | undefined) ?? "any");
}

function membersOf(
  properties: Schemas,
  required: readonly string[],
  schemas: Schemas,
  indent: string,
  depth: number,
): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, member]) => {
    const text = textOf(member, schemas, inner, depth + 1);
    const { description } = resolve(member, schemas);
    const line = `${inner}${name}${required.includes(name) ? "" : "?"}: ${text}`;
    return description && !text.includes("\n") ? `${line}  // ${description}` : line;
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});

/** Creates example JSON with required members and members that have an example. */
export function exampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const resolved = resolve(schema, schemas);
  const { examples, properties, required = [], items, anyOf, type, minimum } = resolved;
  if (examples?.[0] !== undefined) return examples[0];
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.enum) return resolved.enum[0];
  if (depth >= MAX_DEPTH) return null;
  if (anyOf?.[0]) return exampleOf(anyOf[0], schemas, depth);
  if (properties) {
    const members = Object.entries(properties).filter(
      ([name, member]) => required.includes(name) || resolve(member, schemas).examples,
    );
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, schemas, depth + 1)]));
  }
  if (items || type === "array") return [];
  if (type === "integer" || type === "number") return minimum ?? 1;
  return { boolean: true, object: {}, string: "" }[`${type}`] ?? null;
}
