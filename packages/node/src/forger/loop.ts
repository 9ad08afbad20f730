/** A task that runs repeatedly, never concurrently, with a pause that each run chooses. */

export type Loop = {
  /** Schedules the first run; while paused, it is scheduled by `resume`. */
  start(delayMs: number): void;
  /** Runs at once, unless a run is in progress, which determines the next one. */
  runNow(): void;
  /** Pauses until `resume`; settles when the current run has ended. */
  pause(): Promise<void>;
  resume(): void;
  /** Stops the loop; settles when the current run has ended. */
  stop(): Promise<void>;
  isStopped(): boolean;
};

type Phase =
  /** Nothing is scheduled: not started, paused or stopped. */
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly timer: NodeJS.Timeout }
  | { readonly kind: "running"; readonly ended: Promise<void> };

/** @param run settles with the milliseconds until the next run; never rejects */
export function createLoop(run: () => Promise<number>): Loop {
  let phase: Phase = { kind: "idle" };
  let isStarted = false;
  let isPaused = false;
  let isStopped = false;

  function schedule(delayMs: number): void {
    cancelWaiting();
    if (!isStarted || isPaused || isStopped || phase.kind === "running") return;
    phase = { kind: "waiting", timer: setTimeout(begin, delayMs) };
  }

  function begin(): void {
    const ended = run().then((delayMs) => {
      phase = { kind: "idle" };
      schedule(delayMs);
    });
    phase = { kind: "running", ended };
  }

  function cancelWaiting(): void {
    if (phase.kind !== "waiting") return;
    clearTimeout(phase.timer);
    phase = { kind: "idle" };
  }

  async function ended(): Promise<void> {
    cancelWaiting();
    if (phase.kind === "running") await phase.ended;
  }

  return {
    start(delayMs) {
      isStarted = true;
      schedule(delayMs);
    },
    runNow: () => schedule(0),
    pause() {
      isPaused = true;
      return ended();
    },
    resume() {
      isPaused = false;
      schedule(0);
    },
    stop() {
      isStopped = true;
      return ended();
    },
    isStopped: () => isStopped,
  };
}
