/** Canonical JSON (RFC 8785): members sorted by name, without white space, numbers and strings as ECMAScript writes them. */

/**
 * Returns the canonical text of a value. Big integers are decimal text, and members without a value are omitted, as in the contents
 * of events (events.md 1).
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return `"${value}"`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? `[${value.map(canonicalJson).join(",")}]` : canonicalObject(value);
    default:
      // `undefined` in an array becomes null, as in JSON.stringify.
      return JSON.stringify(value) ?? "null";
  }
}

function canonicalObject(object: object): string {
  let members = "";
  for (const name of Object.keys(object).sort()) {
    const member = (object as Record<string, unknown>)[name];
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
