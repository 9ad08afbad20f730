/** Writes the events that no block caused. */
import type { Logger } from "pino";
import type { Event } from "../events/event.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";

export type ReporterDeps = {
  readonly database: Pick<Database, "transaction">;
  readonly events: EventLog;
  /** Readers of the log can find more in it. */
  readonly onLogged: () => void;
  readonly logger: Logger;
};

export type Reporter = {
  /**
   * Writes what is about to happen, in a transaction of its own.
   *
   * @throws {Error} of the database, whereupon it must not happen
   */
  log(...happening: Event[]): void;
  /** Writes what has happened, which stands whether it can be written or not. */
  report(...happened: Event[]): void;
};

export function createReporter({ database, events, onLogged, logger }: ReporterDeps): Reporter {
  function log(...happening: Event[]): void {
    if (!happening.some(({ name }) => events.wants(name))) return;
    database.transaction(() => events.append(happening));
    // The pool reports within a transaction of its own, which readers see when it has ended.
    queueMicrotask(onLogged);
  }
  return {
    log,
    report(...happened) {
      try {
        log(...happened);
      } catch (err) {
        logger.error(
          { err, events: happened.map(({ name }) => name) },
          "events cannot be written; they are lost",
        );
      }
    },
  };
}
