/**
 * Returns a value that other code guarantees and that the compiler cannot know.
 *
 * @param what names the value in the error
 * @throws {TypeError} if it is absent
 */
export function present<T>(value: T, what = "a value"): NonNullable<T> {
  if (value === undefined || value === null) throw new TypeError(`${what} is missing`);
  return value;
}
