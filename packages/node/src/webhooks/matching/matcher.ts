/**
 * Moves events from the log to the queues. Deliveries are written and the cursor moves in one batch: even if the process
 * dies, each event is matched once, and no delivery is lost or repeated with another id.
 */
import type { Logger } from "pino";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Fit } from "../../subscriptions/content.ts";
import { logSuspension } from "../collaborators.ts";
import { type Intake, type IntakeCommand, STEP_SIZE } from "../intake.ts";
import type { Definitions, ReadDefinitions } from "./definitions.ts";
import { type JudgedSubscriber, planStep, type Reached } from "./plan.ts";
import { readStep, type StepReader, stepOf } from "./step.ts";
import type { Verdicts } from "./verdicts.ts";

export type MatcherDeps = {
  /** The nethash. */
  network: string;
  intake: StepReader & Pick<Intake, "nextEvents" | "apply" | "stepSize">;
  readDefinitions: ReadDefinitions;
  verdicts: Verdicts;
  fit: Fit;
  observer: Pick<MatchingObserver, "suspended">;
  nowMs: () => number;
  logger: Pick<Logger, "info">;
};

export type Matched = {
  /** Webhooks with changed queues. */
  readonly webhooks: ReadonlySet<number>;
  /** True if further events are waiting. */
  readonly more: boolean;
};

/** Creates the step function, which handles the next events after the cursor, if any. */
export function createMatcher(deps: MatcherDeps): () => Promise<Matched> {
  /** Progress at the last commit. After a crash, webhooks that already have their delivery are found by its id. */
  let reached: Reached | undefined;
  const { events: limit } = deps.intake.stepSize ?? STEP_SIZE;
  return async () => {
    const next = await deps.intake.nextEvents(limit);
    if (next.length === 0) return { webhooks: new Set(), more: false };
    const step = await match(deps, next, reached);
    reached = step.reached;
    return { ...step, more: step.more || next.length === limit };
  };
}

/** Matches some of the events, from the first one on; `more` is true if others remain. */
async function match(
  { network, intake, readDefinitions, verdicts, fit, nowMs, ...reports }: MatcherDeps,
  next: readonly LoggedEvent[],
  reached: Reached | undefined,
): Promise<Matched & { readonly reached: Reached | undefined }> {
  const definitions = await readDefinitions();
  const candidates = stepOf(next);
  const events = candidates.slice(0, verdicts.find(candidates, definitions));
  if (events.length === 0) return { webhooks: new Set(), more: true, reached };
  const reads = await readStep(intake, events);
  const subscribers = (event: LoggedEvent) => judgedSubscribers(event, definitions, verdicts);
  const plan = planStep({ network, events, reads, subscribers, reached, fit, size: intake.stepSize });
  const { commands, matched } = plan;
  const { isCurrent, webhooks } = await intake.apply({
    registerVersion: definitions.version,
    atMs: nowMs(),
    commands,
    position: { reader: "log", ...(matched !== undefined && { matched }) },
  });
  if (!isCurrent) return { webhooks: new Set(), more: true, reached };
  reportSuspensions(reports, commands);
  const more = !plan.isFinished || events.length < next.length;
  return { webhooks: new Set(webhooks), more, reached: plan.reached };
}

function judgedSubscribers(
  event: LoggedEvent,
  definitions: Definitions,
  verdicts: Verdicts,
): JudgedSubscriber[] {
  return definitions
    .forEvent(event)
    .filter(({ definition }) => event.sequence > definition.activeAfter)
    .map((subscriber) => ({
      ...subscriber,
      verdict: present(verdicts.of(event, subscriber.definition), "the verdict of a finished event"),
    }));
}

function reportSuspensions(
  { observer, logger }: Pick<MatcherDeps, "observer" | "logger">,
  commands: readonly IntakeCommand[],
): void {
  for (const command of commands) {
    if (command.kind !== "suspend") continue;
    logSuspension(logger, command.webhook, command.reason);
    observer.suspended("webhook");
  }
}
