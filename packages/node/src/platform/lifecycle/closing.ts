/** Closes the started parts in reverse order. */
import type { Logger } from "pino";

export type Closing = {
  /** Registers a part that has just been started. */
  add(name: string, close: () => void | Promise<void>): void;
  /** Closes all parts, last first. Slow and failed parts are logged; a failure does not stop the rest. */
  closeAll(logger: Pick<Logger, "error" | "warn">): Promise<void>;
  /** Name of the part that is being closed, if any. */
  current(): string | undefined;
};

/** A part that takes longer is logged. */
const SLOW_MS = 5_000;

export function createClosing(): Closing {
  const parts: { name: string; close: () => void | Promise<void> }[] = [];
  let current: string | undefined;
  return {
    add: (name, close) => void parts.push({ name, close }),
    async closeAll(logger) {
      for (let part = parts.pop(); part; part = parts.pop()) {
        const { name } = part;
        current = name;
        const startedMs = performance.now();
        const timer = setTimeout(
          () => logger.warn({ part: name }, `${name} has not closed for ${SLOW_MS / 1_000} s`),
          SLOW_MS,
        );
        try {
          await part.close();
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
