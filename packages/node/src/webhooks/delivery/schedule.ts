/**
 * Schedules the runs of the dispatcher: soon after a notification, at a set time, or when enough outcomes are pending. Work
 * that becomes due together is one run, and a run starts only after the previous one has ended.
 */
import type { Clock } from "../collaborators.ts";

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

type State = {
  readonly clock: Pick<Clock, "after">;
  readonly run: () => Promise<void>;
  phase: "idle" | "notified" | "running" | "paused" | "closed";
  /** True if another run must follow the current one. */
  isNotified: boolean;
  running: Promise<void>;
  cancelTimer: () => void;
  cancelDeadline: (() => void) | undefined;
  isContinuing: boolean;
};

/** @param run must not reject */
export function createSchedule(clock: Pick<Clock, "after">, run: () => Promise<void>): Schedule {
  const state: State = {
    clock,
    run,
    phase: "idle",
    isNotified: false,
    running: Promise.resolve(),
    cancelTimer() {},
    cancelDeadline: undefined,
    isContinuing: false,
  };
  return {
    notify: () => notify(state),
    notifyAfter(delayMs) {
      if (state.phase === "closed") return;
      if (delayMs === undefined) state.cancelTimer();
      else setTimer(state, delayMs, () => notify(state));
    },
    notifyWithin: (delayMs) => notifyWithin(state, delayMs),
    continueWith: (work) => continueWith(state, work),
    isContinuing: () => state.isContinuing,
    pause: (delayMs) => pause(state, delayMs),
    close() {
      state.phase = "closed";
      cancelAll(state);
      return state.running;
    },
  };
}

function notify(state: State): void {
  if (state.phase === "running") state.isNotified = true;
  if (state.phase !== "idle") return;
  state.phase = "notified";
  setImmediate(() => {
    if (state.phase === "closed") return;
    cancelAll(state);
    begin(state, state.run);
  });
}

function begin(state: State, work: () => Promise<void>): void {
  state.phase = "running";
  state.isNotified = false;
  state.running = work().then(() => {
    if (state.phase !== "running") return;
    state.phase = "idle";
    if (state.isNotified) notify(state);
  });
}

function notifyWithin(state: State, delayMs: number): void {
  if (state.phase === "closed") return;
  state.cancelDeadline ??= state.clock.after(delayMs, () => {
    state.cancelDeadline = undefined;
    notify(state);
  });
}

function continueWith(state: State, work: () => Promise<void>): void {
  state.isContinuing = true;
  setImmediate(() => {
    state.isContinuing = false;
    if (state.phase === "idle") begin(state, work);
  });
}

function pause(state: State, delayMs: number): void {
  if (state.phase === "closed") return;
  state.phase = "paused";
  setTimer(state, delayMs, () => {
    state.phase = "idle";
    notify(state);
  });
}

function setTimer(state: State, delayMs: number, work: () => void): void {
  state.cancelTimer();
  state.cancelTimer = state.clock.after(delayMs, work);
}

function cancelAll(state: State): void {
  state.cancelTimer();
  state.cancelDeadline?.();
  state.cancelDeadline = undefined;
}
