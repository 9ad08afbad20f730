/** Finds the value that a condition tests (webhooks.md 6.2). */

/**
 * The values under a key: one if the content has it (or has it not: `undefined`); one of each element if the content is
 * an array that does not have it itself.
 */
export function valuesAt(content: unknown, key: string): readonly unknown[] {
  const value = memberOf(content, key);
  if (value !== undefined || !Array.isArray(content)) return [value];
  return content.map((element) => memberOf(element, key));
}

/** An own member of the whole name goes before a path, at every step of the path. */
function memberOf(container: unknown, key: string): unknown {
  if (typeof container !== "object" || container === null) return undefined;
  if (Object.hasOwn(container, key)) return (container as Record<string, unknown>)[key];
  const dot = key.indexOf(".");
  const head = key.slice(0, dot);
  if (dot === -1 || !Object.hasOwn(container, head)) return undefined;
  return memberOf((container as Record<string, unknown>)[head], key.slice(dot + 1));
}
