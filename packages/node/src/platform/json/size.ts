/** Returns the sum of the characters and bytes in a value: an estimate of its memory. */
export function lengthOf(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  // Avoids an array of entries for each object, which would cost most of the time.
  for (const name in value) sum += name.length + lengthOf((value as Record<string, unknown>)[name]);
  return sum;
}
