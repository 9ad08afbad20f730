/**
 * Finds the first index below `count` that passes a test which all later indexes pass, too; `count` if none does. The
 * test is called about log2(`count`) times.
 */
export function firstIndex(count: number, test: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Finds the first item that passes a test which all later items pass, too; the length of the list if none does. */
export const firstItemIndex = <T>(items: readonly T[], test: (item: T) => boolean): number =>
  firstIndex(items.length, (index) => test(items[index] as T));
