/** Closes the started parts in reverse order. */
import type { Logger } from "pino";
import { type Deadline, deadlineIn } from "../threads/call.ts";

/** @param peers the moment at which no part waits for peers any longer, common to all parts */
type Close = (peers: Deadline) => void | Promise<void>;

export type Closing = {
  /** Registers a part that has just been started. */
  add(name: string, close: Close): void;
  /**
   * Closes all parts, last first. Slow and failed parts are logged; a failure does not stop the rest.
   *
   * @param peers starts now if absent
   */
  closeAll(logger: Pick<Logger, "error" | "warn">, peers?: Deadline): Promise<void>;
  /** Returns the name of the part that is being closed, if any. */
  current(): string | undefined;
};

/** A part that takes longer is logged. */
const SLOW_MS = 5_000;
/**
 * Time for peers during a shutdown: a forger that pings them before its block, the block that waits for the rate limit
 * of a peer, and peers that fetch the blocks below it. The connections then end within `TIMES_MS.close` (p2p.md 12.1).
 */
const PEERS_MS = 4_400;

export function createClosing(): Closing {
  const parts: { name: string; close: Close }[] = [];
  let current: string | undefined;
  return {
    add: (name, close) => void parts.push({ name, close }),
    async closeAll(logger, peers = deadlineIn(PEERS_MS)) {
      for (let part = parts.pop(); part; part = parts.pop()) {
        const { name } = part;
        current = name;
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
      current = undefined;
    },
    current: () => current,
  };
}
