/**
 * Returns a value that other code guarantees and that the compiler cannot know. A copy of protocol's function: importing
 * that package would load it in commands and threads that need nothing else of it.
 *
 * @param what name of the value in the error
 * @throws {Error} if it is absent: a bug of this program
 */
export function present<T>(value: T, what = "a required value"): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}
