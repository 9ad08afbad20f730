/** Sleeps until the time has passed or a signal aborts. */

/** Waits for a time; rejects with the reason of the signal as soon as that is aborted. */
export type Sleep = (timeMs: number, signal?: AbortSignal | undefined) => Promise<void>;

/** A timer of more milliseconds would fire at once. */
const MAX_MS = 2 ** 31 - 1;

export const sleep: Sleep = (timeMs, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      Math.min(timeMs, MAX_MS),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
  });
