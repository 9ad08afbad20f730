/**
 * Schedules the runs of the dispatcher: soon after a notification, at a set time, or when enough outcomes are pending. Work
 * that becomes due together is one run, and a run starts only after the previous one has ended.
 */
import type { Clock } from "../clock.ts";

export type Schedule = {
  /** Runs in the next tick of the event loop, once for all calls until then; after the current run or pause. */
  notify(): void;
  /** Notifies after a delay, which replaces the previous one; undefined cancels it. */
  notifyAfter(delayMs: number | undefined): void;
  /** Notifies after a delay at the latest. */
  notifyWithin(delayMs: number): void;
  /** Continues with `work` in the next tick of the event loop, unless a run starts earlier. */
  continueWith(work: () => Promise<void>): void;
  /** Returns whether a continuation is scheduled. */
  isContinuing(): boolean;
  /** Pauses for a time, then runs. */
  pause(delayMs: number): void;
  /** Starts no further runs. Settles when the current run has ended. */
  close(): Promise<void>;
};

/** @param run must not reject */
export function createSchedule(clock: Pick<Clock, "after">, run: () => Promise<void>): Schedule {
  let phase: "idle" | "notified" | "running" | "paused" | "closed" = "idle";
  /** True if another run must follow the current one. */
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
