/** A task that runs repeatedly, never concurrently, with a pause that each run chooses. */

type Phase =
  /** Nothing is scheduled: not started, paused or stopped. */
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly timer: NodeJS.Timeout }
  | { readonly kind: "running"; readonly ended: Promise<void> };

export class Loop {
  readonly #run: () => Promise<number>;
  #phase: Phase = { kind: "idle" };
  #isStarted = false;
  #isPaused = false;
  #isStopped = false;

  /** @param run settles with the milliseconds until the next run; never rejects */
  constructor(run: () => Promise<number>) {
    this.#run = run;
  }

  /** Schedules the first run; while paused, it is scheduled by `resume`. */
  start(delayMs: number): void {
    this.#isStarted = true;
    this.#schedule(delayMs);
  }

  /** Runs at once, unless a run is in progress, which determines the next one. */
  runNow(): void {
    this.#schedule(0);
  }

  /** Pauses until `resume`; settles when the current run has ended. */
  pause(): Promise<void> {
    this.#isPaused = true;
    return this.#ended();
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule(0);
  }

  /** Stops the loop; settles when the current run has ended. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#ended();
  }

  isStopped(): boolean {
    return this.#isStopped;
  }

  #schedule(delayMs: number): void {
    this.#cancelWaiting();
    if (!this.#isStarted || this.#isPaused || this.#isStopped || this.#phase.kind === "running") return;
    this.#phase = { kind: "waiting", timer: setTimeout(() => this.#begin(), delayMs) };
  }

  #begin(): void {
    const ended = this.#run().then((delayMs) => {
      this.#phase = { kind: "idle" };
      this.#schedule(delayMs);
    });
    this.#phase = { kind: "running", ended };
  }

  #cancelWaiting(): void {
    if (this.#phase.kind !== "waiting") return;
    clearTimeout(this.#phase.timer);
    this.#phase = { kind: "idle" };
  }

  async #ended(): Promise<void> {
    this.#cancelWaiting();
    if (this.#phase.kind === "running") await this.#phase.ended;
  }
}
