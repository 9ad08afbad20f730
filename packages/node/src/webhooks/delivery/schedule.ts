/**
 * Schedules the runs of the dispatcher: soon after a notification, at a set time, or when enough outcomes are pending. Work
 * that becomes due together is one run, and a run starts only after the previous one has ended.
 */
import type { Clock } from "../collaborators.ts";

/**
 * A run occupies this thread, which also serves the API. Node.js accepts one connection per turn of the event loop: if each turn
 * contained a run of 50 ms, clients would get 20 connections per second, and all others would wait.
 */
const RUN_MS_PER_TURN = 5;
/** A run also waits for a database in another process, while the event loop turns. */
const MAX_TURNS = 20;

export class Schedule {
  readonly #clock: Pick<Clock, "after" | "elapsedMs">;
  readonly #run: () => Promise<void>;
  #phase: "idle" | "notified" | "running" | "paused" | "closed" = "idle";
  /** True if another run must follow the current one. */
  #isNotified = false;
  #isContinuing = false;
  #running = Promise.resolve();
  #cancelTimer = () => {};
  #cancelDeadline: (() => void) | undefined;
  /** Turns of the event loop before the next run. */
  #turns = 1;

  /** @param run must not reject */
  constructor(clock: Pick<Clock, "after" | "elapsedMs">, run: () => Promise<void>) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Runs soon, once for all calls until then; after the current run or pause. */
  notify(): void {
    if (this.#phase === "running") this.#isNotified = true;
    if (this.#phase !== "idle") return;
    this.#phase = "notified";
    this.#afterTurns(() => {
      if (this.#phase === "closed") return;
      this.#cancelAll();
      this.#begin(this.#run);
    });
  }

  #begin(work: () => Promise<void>): void {
    this.#phase = "running";
    this.#isNotified = false;
    const startMs = this.#clock.elapsedMs();
    this.#running = work().then(() => {
      const turns = Math.ceil((this.#clock.elapsedMs() - startMs) / RUN_MS_PER_TURN);
      this.#turns = Math.min(Math.max(turns, 1), MAX_TURNS);
      if (this.#phase !== "running") return;
      this.#phase = "idle";
      if (this.#isNotified) this.notify();
    });
  }

  /** Notifies after a delay, which replaces the previous one; undefined cancels it. */
  notifyAfter(delayMs: number | undefined): void {
    if (this.#phase === "closed") return;
    if (delayMs === undefined) this.#cancelTimer();
    else this.#setTimer(delayMs, () => this.notify());
  }

  /** Notifies after a delay at the latest. */
  notifyWithin(delayMs: number): void {
    if (this.#phase === "closed") return;
    this.#cancelDeadline ??= this.#clock.after(delayMs, () => {
      this.#cancelDeadline = undefined;
      this.notify();
    });
  }

  /** Continues with `work` soon, unless a run starts earlier. */
  continueWith(work: () => Promise<void>): void {
    this.#isContinuing = true;
    this.#afterTurns(() => {
      this.#isContinuing = false;
      if (this.#phase === "idle") this.#begin(work);
    });
  }

  /** Does work after the turns that follow the last run. */
  #afterTurns(work: () => void): void {
    let turns = 0;
    const turn = () => {
      turns++;
      if (turns < this.#turns) setImmediate(turn);
      else work();
    };
    setImmediate(turn);
  }

  isContinuing(): boolean {
    return this.#isContinuing;
  }

  pause(delayMs: number): void {
    if (this.#phase === "closed") return;
    this.#phase = "paused";
    this.#setTimer(delayMs, () => {
      this.#phase = "idle";
      this.notify();
    });
  }

  /** Starts no further runs. Settles when the current run has ended. */
  close(): Promise<void> {
    this.#phase = "closed";
    this.#cancelAll();
    return this.#running;
  }

  #setTimer(delayMs: number, work: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(delayMs, work);
  }

  #cancelAll(): void {
    this.#cancelTimer();
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
  }
}
