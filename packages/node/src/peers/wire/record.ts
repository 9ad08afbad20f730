/** An object whose members are not validated yet. */
export type UntrustedRecord = Record<string, unknown>;

/** Returns true if a decoded value is an object, and not a list or a byte string. */
export const isRecord = (value: unknown): value is UntrustedRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Returns true if an object has no other members than these. */
export const hasOnly = (record: UntrustedRecord, ...names: readonly string[]): boolean =>
  Object.keys(record).every((name) => names.includes(name));
