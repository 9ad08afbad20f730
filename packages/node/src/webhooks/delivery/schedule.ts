/**
 * When the dispatcher runs: soon after it was notified, at a time, or when enough outcomes have gathered. Whatever becomes
 * due together is one run, and a run begins only after the one before has ended.
 */
import type { Clock } from "../clock.ts";

export type Schedule = {
  /** Runs in the next tick of the event loop, once for all calls until then; after the run or pause that is under way. */
  notify(): void;
  /** Notifies after a delay, in place of the time that was set before; undefined: not at all. */
  notifyAfter(delayMs: number | undefined): void;
  /** Notifies after a delay at the latest. */
  notifyWithin(delayMs: number): void;
  /** Does a further piece of work in the next tick of the event loop, unless a run comes before it. */
  continueWith(work: () => Promise<void>): void;
  /** Whether a further piece of work is to come. */
  isContinuing(): boolean;
  /** Nothing runs for some time; then a run follows. */
  pause(delayMs: number): void;
  /** Nothing begins any more. Settles when the run that is under way has ended. */
  close(): Promise<void>;
};

/** @param run must not reject */
export function createSchedule(clock: Pick<Clock, "after">, run: () => Promise<void>): Schedule {
  let phase: "idle" | "notified" | "running" | "paused" | "closed" = "idle";
  /** Of a run that is under way: another one is to follow. */
  let isNotified = false;
  let running: Promise<void> = Promise.resolve();
  let cancelTimer = () => {};
  let cancelDeadline: (() => void) | undefined;
  let isContinuing = false;

  function notify(): void {
    if (phase === "running") isNotified = true;
    if (phase !== "idle") return;
    phase = "notified";
    setImmediate(() => {
      if (phase === "closed") return;
      cancelAll();
      begin(run);
    });
  }

  function begin(work: () => Promise<void>): void {
    phase = "running";
    isNotified = false;
    running = work().then(() => {
      if (phase !== "running") return;
      phase = "idle";
      if (isNotified) notify();
    });
  }

  function cancelAll(): void {
    cancelTimer();
    cancelDeadline?.();
    cancelDeadline = undefined;
  }

  function setTimer(delayMs: number, work: () => void): void {
    cancelTimer();
    cancelTimer = clock.after(delayMs, work);
  }

  return {
    notify,
    notifyAfter(delayMs) {
      if (phase === "closed") return;
      if (delayMs === undefined) cancelTimer();
      else setTimer(delayMs, notify);
    },
    notifyWithin(delayMs) {
      if (phase === "closed") return;
      cancelDeadline ??= clock.after(delayMs, () => {
        cancelDeadline = undefined;
        notify();
      });
    },
    continueWith(work) {
      isContinuing = true;
      setImmediate(() => {
        isContinuing = false;
        if (phase === "idle") begin(work);
      });
    },
    isContinuing: () => isContinuing,
    pause(delayMs) {
      if (phase === "closed") return;
      phase = "paused";
      setTimer(delayMs, () => {
        phase = "idle";
        notify();
      });
    },
    close() {
      phase = "closed";
      cancelAll();
      return running;
    },
  };
}
