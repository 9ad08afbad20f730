/**
 * The work that puts deliveries into queues, or takes them out without a call: matching, and background tasks. Each step reads
 * the database: a run of the dispatcher that only follows the outcomes of calls omits those that cannot have work.
 */
import type { Clock } from "../collaborators.ts";
import type { Matched } from "../matching/matcher.ts";

/** Runs one short step. `webhook`: the webhook whose queue has changed, if any; `more`: further steps may follow. */
export type BackgroundTask = () => Promise<{ readonly webhook?: number; readonly more: boolean }>;

export type SourcesDeps = {
  readonly match: () => Promise<Matched>;
  /** One step of each runs when no event is waiting to be matched. */
  readonly backgroundTasks: readonly BackgroundTask[];
  readonly clock: Pick<Clock, "steadyMs">;
  /** Reports that the queue of a webhook has changed. */
  readonly onChange: (webhook: number) => void;
};

export type Sources = {
  /** Reports that there may be new events, or work for a background task: the next run does everything. */
  wake(): void;
  /** Reports that there may be work for a background task. */
  wakeTasks(): void;
  /** Runs one step of each that may have work. Resolves to `true` if events are waiting. */
  run(): Promise<boolean>;
  /** Returns the time of the next steps of the background tasks; undefined if none remain. */
  nextMs(): number | undefined;
};

/** Pause between two steps of the background tasks, for other writers and for requests. */
const TASK_PAUSE_MS = 5;

type State = SourcesDeps & {
  mayMatch: boolean;
  hasTasks: boolean;
  tasksDueMs: number | undefined;
};

export function createSources(deps: SourcesDeps): Sources {
  const state: State = { ...deps, mayMatch: true, hasTasks: true, tasksDueMs: undefined };
  const wakeTasks = () => {
    state.hasTasks = true;
  };
  return {
    wake() {
      state.mayMatch = true;
    },
    wakeTasks,
    async run() {
      const isMore = state.mayMatch && (await match(state));
      if (state.tasksDueMs !== undefined) wakeTasks();
      state.tasksDueMs = undefined;
      if (!isMore && state.hasTasks) await runBackgroundTasks(state);
      return isMore;
    },
    nextMs: () => state.tasksDueMs,
  };
}

async function match(state: State): Promise<boolean> {
  state.mayMatch = false;
  // A replay waits for the matching of retractions.
  state.hasTasks = true;
  const { webhooks, more } = await state.match();
  for (const webhook of webhooks) state.onChange(webhook);
  state.mayMatch ||= more;
  return more;
}

async function runBackgroundTasks(state: State): Promise<void> {
  const { backgroundTasks, clock, onChange } = state;
  state.hasTasks = false;
  let isMore = false;
  for (const task of backgroundTasks) {
    const { webhook, more } = await task();
    if (webhook !== undefined) onChange(webhook);
    isMore ||= more;
  }
  if (isMore) state.tasksDueMs = clock.steadyMs() + TASK_PAUSE_MS;
}
