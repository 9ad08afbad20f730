/** Finds the value that a condition tests (webhooks.md 6.2). */

/**
 * Returns the values under a key: one value (`undefined` if the content does not have the key), or one per element if the
 * content is an array that does not have the key itself.
 */
export function valuesAt(content: unknown, key: string): readonly unknown[] {
  const value = memberOf(content, key);
  if (value !== undefined || !Array.isArray(content)) return [value];
  return content.map((element) => memberOf(element, key));
}

/** Resolves a key; at every step of a path, an own member with the whole remaining name has precedence. */
function memberOf(container: unknown, key: string): unknown {
  if (typeof container !== "object" || container === null) return undefined;
  if (Object.hasOwn(container, key)) return (container as Record<string, unknown>)[key];
  const dot = key.indexOf(".");
  const head = key.slice(0, dot);
  if (dot === -1 || !Object.hasOwn(container, head)) return undefined;
  return memberOf((container as Record<string, unknown>)[head], key.slice(dot + 1));
}
