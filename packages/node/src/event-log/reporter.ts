/** Records events that are not caused by blocks. */
import type { Logger } from "pino";
import type { Event } from "../events/event.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";

export type ReporterDeps = {
  readonly database: Pick<Database, "transaction">;
  readonly events: EventLog;
  /** Called after events were recorded and can be read. */
  readonly onLogged: () => void;
  readonly logger: Logger;
};

export type Reporter = {
  /**
   * Records events that are about to happen, in a transaction of its own.
   *
   * @throws {Error} of the database; the caller must then not let them happen
   */
  log(...happening: Event[]): void;
  /** Records events that have happened; logs an error if they cannot be written. */
  report(...happened: Event[]): void;
};

export function createReporter({ database, events, onLogged, logger }: ReporterDeps): Reporter {
  function log(...happening: Event[]): void {
    if (!happening.some(({ name }) => events.isRecorded(name))) return;
    database.transaction(() => events.append(happening));
    // The pool reports within a transaction of its own; readers see the events after its commit.
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
          "failed to write events; they are lost",
        );
      }
    },
  };
}
