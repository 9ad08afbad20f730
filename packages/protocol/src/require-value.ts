/**
 * Returns a value that must be there.
 *
 * @param what names the value in the error
 * @throws {TypeError} if it is undefined or null
 */
export function requireValue<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new TypeError(`${what} is missing`);
  return value;
}
