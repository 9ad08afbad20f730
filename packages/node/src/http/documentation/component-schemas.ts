/** Moves each schema with a title to the components of the document, under that name. */
import type { Schema } from "./document-schema.ts";

/**
 * Returns the document with each titled schema moved to its components.
 *
 * @throws {Error} if two different schemas have the same title
 */
export function withComponentSchemas(document: Schema): Schema {
  const schemas = new Map<string, string>();
  const values: Record<string, unknown> = {};

  function move(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(move);
    if (typeof value !== "object" || value === null) return value;
    const moved = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, move(member)]));
    if (!isTitledSchema(moved)) return moved;
    const { title, ...schema } = moved;
    const text = JSON.stringify(schema);
    const known = schemas.get(title);
    if (known !== undefined && known !== text) throw new Error(`two schemas are called ${title}`);
    schemas.set(title, text);
    values[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  const paths = move(document.paths);
  return { ...document, paths, components: { ...(document.components as object), schemas: values } };
}

const isTitledSchema = (value: Schema): value is Schema & { title: string } =>
  typeof value.title === "string" && typeof value.type === "string";
