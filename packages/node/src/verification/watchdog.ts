/** Calls back when a thread makes no progress. */

export type Watchdog = {
  /** The thread made progress, and has more to do. */
  restart(): void;
  stop(): void;
};

/** A time without progress, and what is done then. */
export type Alarm = { readonly afterMs: number; readonly run: () => void };

/** After a pause of the whole process, its timers fire before a message of another thread can arrive. */
const LATE_MESSAGE_MS = 1_000;

export function createWatchdog(alarms: readonly Alarm[]): Watchdog {
  let timers: NodeJS.Timeout[] = [];
  const stop = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    restart() {
      stop();
      for (const { afterMs, run } of alarms) {
        const confirm = () => timers.push(setTimeout(run, Math.min(afterMs, LATE_MESSAGE_MS)));
        timers.push(setTimeout(confirm, afterMs));
      }
    },
    stop,
  };
}
