/** Sum of the characters and bytes in a value: an estimate of its memory. */
export function lengthOf(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 1;
  return Object.entries(value).reduce((sum, [name, member]) => sum + name.length + lengthOf(member), 0);
}
