/**
 * When the dispatcher runs: soon after it was woken, at a time, or when enough outcomes have gathered. Whatever becomes
 * due together is one run.
 */
import type { Clock } from "../clock.ts";

export type Schedule = {
  /** Runs in the next tick of the event loop, once for all calls until then. Without effect during a pause. */
  wake(): void;
  /** Wakes after a delay, in place of the time that was set before; undefined: only when it is woken. */
  wakeAfter(delayMs: number | undefined): void;
  /** Wakes after a delay at the latest. */
  wakeWithin(delayMs: number): void;
  /** Does a further piece of work in the next tick of the event loop, unless a run comes before it. */
  continueWith(work: () => void): void;
  /** Whether a further piece of work is to come. */
  isContinuing(): boolean;
  /** Nothing runs for some time; then a run follows. */
  pause(delayMs: number): void;
  /** Nothing runs any more. */
  close(): void;
};

export function createSchedule(clock: Pick<Clock, "after">, run: () => void): Schedule {
  let phase: "resting" | "woken" | "paused" | "closed" = "resting";
  let cancelTimer = () => {};
  let cancelDeadline: (() => void) | undefined;
  let isContinuing = false;

  function wake(): void {
    if (phase !== "resting") return;
    phase = "woken";
    setImmediate(() => {
      if (phase === "closed") return;
      phase = "resting";
      cancelAll();
      run();
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
    wake,
    wakeAfter(delayMs) {
      if (delayMs === undefined) cancelTimer();
      else setTimer(delayMs, wake);
    },
    wakeWithin(delayMs) {
      if (phase !== "closed") cancelDeadline ??= clock.after(delayMs, wake);
    },
    continueWith(work) {
      isContinuing = true;
      setImmediate(() => {
        isContinuing = false;
        if (phase === "resting") work();
      });
    },
    isContinuing: () => isContinuing,
    pause(delayMs) {
      if (phase === "closed") return;
      phase = "paused";
      setTimer(delayMs, () => {
        phase = "resting";
        wake();
      });
    },
    close() {
      phase = "closed";
      cancelAll();
    },
  };
}
