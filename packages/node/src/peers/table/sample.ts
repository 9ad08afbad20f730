/** Random sample, for choosing among peers. */

/** Returns at most `count` of the items, each at most once, in random order. */
export function sample<T>(items: readonly T[], count: number): T[] {
  const rest = [...items];
  const chosen: T[] = [];
  while (chosen.length < count && rest.length > 0) {
    chosen.push(...rest.splice(Math.floor(Math.random() * rest.length), 1));
  }
  return chosen;
}
