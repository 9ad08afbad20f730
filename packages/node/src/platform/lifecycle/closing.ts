/** Closes the started parts in reverse order. */
import type { Logger } from "pino";
import { type Deadline, deadlineIn } from "../threads/call.ts";

/** @param peers the moment at which no part waits for peers any longer, common to all parts */
type Close = (peers: Deadline) => void | Promise<void>;

/** A part that takes longer is logged. */
const SLOW_MS = 5_000;
/**
 * Time for peers during a shutdown: a forger that pings them before its block, the block that waits for the rate limit
 * of a peer, and peers that fetch the blocks below it. The connections then end within `TIMES_MS.close` (p2p.md 12.1).
 */
const PEERS_MS = 4_400;

export class Closing {
  readonly #parts: { readonly name: string; readonly close: Close }[] = [];
  #current: string | undefined;

  /** Registers a part that has just been started. */
  add(name: string, close: Close): void {
    this.#parts.push({ name, close });
  }

  /**
   * Closes all parts, last first. Slow and failed parts are logged; a failure does not stop the rest.
   *
   * @param peers starts now if absent
   */
  async closeAll(logger: Pick<Logger, "error" | "warn">, peers = deadlineIn(PEERS_MS)): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      const { name } = part;
      this.#current = name;
      const startedMs = performance.now();
      const timer = setTimeout(
        () => logger.warn({ part: name }, `${name} has not closed for ${SLOW_MS / 1_000} s`),
        SLOW_MS,
      );
      try {
        await part.close(peers);
      } catch (err) {
        const durationMs = Math.round(performance.now() - startedMs);
        logger.error({ part: name, durationMs, err }, `failed to close ${name}`);
      }
      clearTimeout(timer);
    }
    this.#current = undefined;
  }

  /** Returns the name of the part that is being closed, if any. */
  current(): string | undefined {
    return this.#current;
  }
}
