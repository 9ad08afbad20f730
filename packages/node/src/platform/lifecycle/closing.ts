/** Parts that were started, closed in reverse. */
import type { Logger } from "pino";

export type Closing = {
  /** Remembers how to close a part that has just been started. */
  add(name: string, close: () => void | Promise<void>): void;
  /** Closes everything, last first; a part that fails to close does not keep the others open. Both are logged. */
  closeAll(logger: Pick<Logger, "error" | "warn">): Promise<void>;
  /** The part that is being closed, if one is. */
  current(): string | undefined;
};

/** A part that takes longer is told of in the log. */
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
        const timer = setTimeout(() => logger.warn({ part: name }, "closing takes long"), SLOW_MS);
        try {
          await part.close();
        } catch (err) {
          logger.error({ part: name, err }, "closing failed");
        }
        clearTimeout(timer);
      }
      current = undefined;
    },
    current: () => current,
  };
}
