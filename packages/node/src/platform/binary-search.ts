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
