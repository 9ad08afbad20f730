/**
 * Returns a value that must be there.
 *
 * @param what names the value in the error
 * @throws {Error} if it is undefined or null, which is a bug of the caller
 */
export function requireValue<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}
