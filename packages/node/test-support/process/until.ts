/** The one limit of what tests and trials wait for: it ends what hangs, and nothing else, however busy the machine is. */
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Load of each processor when the run begins. Workers of the run, and processes that they start, inherit it. */
process.env.TEST_LOAD ??= `${Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())}`;

/** An integer, as `AbortSignal.timeout` requires. */
export const WAIT_MS = Math.round(60_000 * Number(process.env.TEST_LOAD));
const POLL_MS = 50;

/**
 * Waits until there is a result, or a condition is true. A function that throws has none yet.
 *
 * @throws {Error} with what it waited for, and the last reason
 */
export async function until<T>(
  what: string | (() => string),
  find: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    let cause: unknown;
    try {
      const found = await find();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > endMs)
      throw new Error(`timeout: ${typeof what === "string" ? what : what()}`, { cause });
    await sleep(POLL_MS);
  }
}
