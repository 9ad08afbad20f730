/**
 * Replays a range of the chain: derives the events from the stored blocks and puts matching ones into the replay lane.
 * Works in small steps, and only while few deliveries are pending, so that it delays no live event, webhook or request.
 */
import type { Logger } from "pino";
import { type History, HistoryError, isRemembered } from "../../event-log/history.ts";
import type { Event } from "../../events/catalogue.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Fit } from "../../subscriptions/content.ts";
import { FailureLog, logSuspension } from "../collaborators.ts";
import type { BackgroundTask } from "../delivery/sources.ts";
import type { Intake, IntakeCommand } from "../intake.ts";
import type { Definition, DefinitionReader } from "../matching/definitions.ts";
import { draftDelivery } from "../matching/drafts.ts";
import type { Replay } from "../model/replay.ts";
import type { ReplayRows } from "../storage/replays.ts";

type ReplayWorkerDeps = {
  readonly network: string;
  readonly replays: Pick<ReplayRows, "next" | "finish">;
  readonly intake: Pick<Intake, "canReplay" | "countReverts" | "apply">;
  readonly history: History;
  readonly definitions: Pick<DefinitionReader, "read">;
  readonly fit: Fit;
  readonly observer: MatchingObserver;
  /** Called when a webhook was suspended. Absent: this process sends nothing. */
  readonly onSuspended?: (webhook: number) => void;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
};

/** Maximum number of pending deliveries; when half are finished, more are created. */
const MAX_WAITING = 200;
/** Maximum time for which a step reads blocks, and matches the events of its last block, because it blocks this thread. */
const MAX_STEP_MS = 5;
const MAX_STEP_BLOCKS = 100;

/** A background task. While past events cannot be read, replays wait: nothing else does. */
export class ReplayWorker {
  readonly #deps: ReplayWorkerDeps;
  readonly #log: FailureLog;
  #last = 0;
  /** Webhooks whose replays wait for blocks, since another one made progress. */
  readonly #waiting = new Set<number>();

  constructor(deps: ReplayWorkerDeps) {
    this.#deps = deps;
    this.#log = new FailureLog(
      deps.logger,
      "failed to read past events; replays wait until they can be read",
    );
  }

  /** Works on one replay. */
  readonly step: BackgroundTask = async () => {
    try {
      const taken = await this.#step();
      this.#log.noteSuccess();
      return taken;
    } catch (err) {
      if (!(err instanceof HistoryError)) throw err;
      this.#log.noteFailure(err);
      // The next run tries again.
      return { more: false };
    }
  };

  async #step(): ReturnType<BackgroundTask> {
    const { replays, intake, nowMs } = this.#deps;
    const replay = await replays.next(this.#last, MAX_WAITING / 2);
    if (!replay || !(await intake.canReplay())) return { more: false };
    const { webhook } = replay;
    this.#last = webhook;
    if (isRead(replay)) {
      // All deliveries of the replay are finished.
      await replays.finish(webhook, nowMs());
      return { more: true };
    }
    const definitions = await this.#deps.definitions.read();
    const definition = definitions.find(webhook);
    // Since the replay was read, the webhook was paused, or another worker owns it.
    if (!definition) return { more: true };
    const taken = await replaySome(this.#deps, replay, definition, definitions.version);
    if (!taken && !this.#waiting.has(webhook)) {
      this.#waiting.add(webhook);
      return { more: true };
    }
    // The next block wakes them.
    this.#waiting.clear();
    return taken ?? { more: false };
  }
}

const isRead = ({ nextHeight, toHeight }: Replay): boolean => nextHeight > toHeight;

/** Reads some events of the replay and puts the matching events into the queue. Undefined if its next block has too few confirmations. */
async function replaySome(
  deps: ReplayWorkerDeps,
  replay: Replay,
  definition: Definition,
  registerVersion: number,
): Promise<Awaited<ReturnType<BackgroundTask>> | undefined> {
  const { intake, observer, onSuspended, nowMs, logger } = deps;
  const { webhook } = replay;
  const found = await readEvents(deps, replay, definition);
  if (!found) return undefined;
  const { matched, tooExpensive, ...next } = found;
  const isSuspending = tooExpensive !== undefined;
  const { isCurrent, webhooks } = await intake.apply({
    registerVersion,
    atMs: nowMs(),
    commands: isSuspending
      ? [{ kind: "suspend", webhook, reason: tooExpensive }]
      : await toCommands(deps, webhook, matched),
    position: { reader: "replay", replay, next: isSuspending ? replay : next },
  });
  if (isCurrent && isSuspending) {
    onSuspended?.(webhook);
    logSuspension(logger, webhook, tooExpensive);
    observer.suspended("replay");
  }
  return { more: true, ...(webhooks.length > 0 && { webhook }) };
}

/** Returns the commands that put the deliveries of matched events into the queue. */
async function toCommands(
  { network, intake, fit }: ReplayWorkerDeps,
  webhook: number,
  matched: readonly MatchedEvent[],
): Promise<readonly IntakeCommand[]> {
  const blockIds = new Set(matched.flatMap(({ event: { blockId = [] } }) => blockId));
  const logSequence = Number.MAX_SAFE_INTEGER;
  const reverts = await intake.countReverts([...blockIds], logSequence);
  return matched.map(({ name, event }) => {
    const timesReverted = reverts.get(event.blockId ?? "") ?? 0;
    const dataText = event.data === undefined ? undefined : JSON.stringify(event.data);
    const content = { ...fit(event.name, dataText), timeMs: event.timeMs };
    const delivery = draftDelivery(network, { webhook, name, event, logSequence, timesReverted }, content);
    return { kind: "enqueue", delivery };
  });
}

/** An event that matches, and its name in the subscription. */
type MatchedEvent = { readonly event: Event; readonly name: string };

/** Result of reading: the matched events, and where the next step continues. */
type Found = {
  readonly matched: MatchedEvent[];
  readonly nextHeight: number;
  readonly nextIndex: number;
  readonly tooExpensive?: string;
};

type Step = {
  readonly definition: Definition;
  readonly matched: MatchedEvent[];
  evaluated: number;
};

/** Undefined if the next block has too few confirmations. */
async function readEvents(
  { history, observer }: ReplayWorkerDeps,
  replay: Replay,
  definition: Definition,
): Promise<Found | undefined> {
  const endMs = performance.now() + MAX_STEP_MS;
  const step: Step = { definition, matched: [], evaluated: 0 };
  const head = await history.head();
  // The chain may have become shorter; the blocks that replace others are delivered as live events.
  const end = Math.min(replay.toHeight, head);
  const last = Math.min(end, head - definition.confirmations);
  if (replay.nextHeight > last && replay.nextHeight <= end) return undefined;
  const endHeight = Math.min(last, replay.nextHeight + MAX_STEP_BLOCKS - 1);
  const { matched } = step;
  let { nextHeight, nextIndex } = replay;
  while (nextHeight <= endHeight && performance.now() < endMs) {
    const stopped = matchBlock(observer, step, await history.eventsAt(nextHeight), nextIndex);
    if (stopped) return { matched, nextHeight, ...stopped };
    nextHeight++;
    nextIndex = 0;
  }
  return { matched, nextHeight: nextHeight > end ? replay.toHeight + 1 : nextHeight, nextIndex };
}

/** Matches the events of a block from an index; returns where the step ended, or undefined at the end of the block. */
function matchBlock(
  observer: MatchingObserver,
  step: Step,
  events: readonly Event[],
  fromIndex: number,
): Pick<Found, "nextIndex" | "tooExpensive"> | undefined {
  const { definition, matched } = step;
  // A block whose reading used up the time would be read again for each event.
  const endMs = performance.now() + MAX_STEP_MS;
  for (const [index, event] of events.slice(fromIndex).entries()) {
    const nextIndex = fromIndex + index;
    const isTimeUp = step.evaluated > 0 && performance.now() >= endMs;
    if (isTimeUp || matched.length === MAX_WAITING / 2) return { nextIndex };
    const name = definition.names.get(event.name);
    if (name === undefined || !isRemembered(event.name)) continue;
    step.evaluated++;
    const verdict = judge(observer, definition, event);
    if (verdict instanceof CostError) return { nextIndex, tooExpensive: verdict.message };
    if (verdict) matched.push({ name, event });
  }
  return undefined;
}

function judge(observer: MatchingObserver, { metered }: Definition, event: Event): Verdict {
  const startMs = performance.now();
  const verdict = metered.judge(event.data);
  observer.spent("replay", performance.now() - startMs);
  return verdict;
}
