/** Waits with a time limit. */

/** Waits for the promise, but at most for this time. Returns false after the time. */
export async function isWithin(promise: Promise<void>, timeMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, Math.max(timeMs, 0), false);
  const isInTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}
