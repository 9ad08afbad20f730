/**
 * The work that puts deliveries into queues, or takes them out without a call: matching, and background tasks. Each step reads
 * the database: a run of the dispatcher that only follows the outcomes of calls omits those that cannot have work.
 */
import type { Clock } from "../collaborators.ts";
import type { Matched } from "../matching/matcher.ts";

/** Runs one short step. `webhook`: the webhook whose queue has changed, if any; `more`: further steps may follow. */
export type BackgroundTask = () => Promise<{ readonly webhook?: number; readonly more: boolean }>;

type SourcesDeps = {
  readonly match: () => Promise<Matched>;
  /** One step of each runs when no event is waiting to be matched. */
  readonly backgroundTasks: readonly BackgroundTask[];
  readonly clock: Pick<Clock, "steadyMs">;
  readonly onChange: (webhook: number) => void;
};

/** Pause between two steps of the background tasks, for other writers and for requests. */
const TASK_PAUSE_MS = 5;

export class Sources {
  readonly #deps: SourcesDeps;
  #mayMatch = true;
  #hasTasks = true;
  #tasksDueMs: number | undefined;

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
  }

  /** Reports that there may be new events; the next run matches them, and learns whether a background task has work. */
  wake(): void {
    this.#mayMatch = true;
  }

  /** Reports that there may be work for a background task. */
  wakeTasks(): void {
    this.#hasTasks = true;
  }

  /** Runs one step of each that may have work. Resolves to `true` if events are waiting. */
  async run(): Promise<boolean> {
    const isMore = this.#mayMatch && (await this.#match());
    if (this.#tasksDueMs !== undefined) this.wakeTasks();
    this.#tasksDueMs = undefined;
    if (!isMore && this.#hasTasks) await this.#runBackgroundTasks();
    return isMore;
  }

  async #match(): Promise<boolean> {
    this.#mayMatch = false;
    // A replay waits for the matching of retractions.
    this.#hasTasks = true;
    const { webhooks, more } = await this.#deps.match();
    for (const webhook of webhooks) this.#deps.onChange(webhook);
    this.#mayMatch ||= more;
    return more;
  }

  async #runBackgroundTasks(): Promise<void> {
    const { backgroundTasks, clock, onChange } = this.#deps;
    this.#hasTasks = false;
    let isMore = false;
    for (const task of backgroundTasks) {
      const { webhook, more } = await task();
      if (webhook !== undefined) onChange(webhook);
      isMore ||= more;
    }
    if (isMore) this.#tasksDueMs = clock.steadyMs() + TASK_PAUSE_MS;
  }

  /** Returns the time of the next steps of the background tasks; undefined if none remain. */
  nextMs(): number | undefined {
    return this.#tasksDueMs;
  }
}
