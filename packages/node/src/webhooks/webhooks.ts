/** The webhook service: a register, and the deliveries to its webhooks. */
import type { Logger } from "pino";
import type { History } from "../event-log/history.ts";
import type { ProveFact } from "../proofs/assemble.ts";
import {
  createSlices,
  type MatchingObserver,
  NO_MATCHING_OBSERVER,
  type Slices,
} from "../subscriptions/conditions/slices.ts";
import { createFit } from "../subscriptions/content.ts";
import { type Clock, NO_WEBHOOK_OBSERVER, systemClock, type WebhookObserver } from "./collaborators.ts";
import { createAttempt } from "./delivery/attempt.ts";
import { Consequences } from "./delivery/consequences.ts";
import { Dispatcher } from "./delivery/dispatch.ts";
import { createHostRates, createRateLimitedAttempt } from "./delivery/host-rate-limit.ts";
import { createLease } from "./delivery/lease.ts";
import type { Post } from "./delivery/post.ts";
import { Retention } from "./delivery/retention.ts";
import type { BackgroundTask } from "./delivery/sources.ts";
import type { Intake } from "./intake.ts";
import { createReadDefinitions } from "./matching/definitions.ts";
import { createMatcher, type Matched } from "./matching/matcher.ts";
import { Verdicts } from "./matching/verdicts.ts";
import { isHalf } from "./model/message.ts";
import type { WebhookOptions } from "./options.ts";
import { createReadProofText } from "./proof-text.ts";
import type { Register } from "./register/register.ts";
import { createReplayWorker } from "./replay/worker.ts";
import { createWebhookRequests, type WebhookRequests } from "./requests.ts";
import type { DeliveryQueue } from "./storage/delivery-queue.ts";
import type { RegisterStorage } from "./storage/register-commands.ts";

/** The database ports of the webhook service. `sqlite/` and `postgres/` implement them. */
export type WebhookStorage = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly queue: DeliveryQueue;
  readonly intake: Intake;
  readonly register: RegisterStorage;
};

export type WebhookDeps = {
  storage: WebhookStorage;
  /** Settles when every event that the register names reaches the log (`Gateway.webhooksChanged`). */
  webhooksChanged: () => Promise<void>;
  /** Events of stored blocks, for dry runs and replays. */
  history: History;
  /** See `createPost`. */
  post: Post;
  /** Absent: deliveries have no proofs. */
  proveFact?: ProveFact;
  /** Absent: no metrics. */
  observer?: WebhookObserver;
  /** Observer of the cost of conditions. Absent: no metrics. */
  matching?: MatchingObserver;
  /** Slices that all evaluators of conditions in this thread share; absent: no other evaluators run. */
  slices?: Slices;
  /** Called when another process has the name of this worker, which then sends nothing. */
  onNameLost?: (error: Error) => void;
  clock?: Clock;
  /** Defaults to `Math.random`. */
  random?: () => number;
  logger: Logger;
};

export type Webhooks = WebhookRequests & {
  readonly register: Register;
  /** Must be called once to start deliveries, and after events were logged. */
  notify(): void;
  /**
   * Closes the service after its running calls; deliveries without a response are sent again after the next start.
   *
   * @param graceMs time for running calls, by default `closeGraceMs`
   */
  close(graceMs?: number): Promise<void>;
};

export function createWebhooks(options: WebhookOptions, deps: WebhookDeps): Webhooks {
  const { storage, history, webhooksChanged, post, proveFact, logger } = deps;
  const { clock = systemClock, random = Math.random, observer = NO_WEBHOOK_OBSERVER } = deps;
  const { matching = NO_MATCHING_OBSERVER, slices = createSlices(matching), onNameLost = () => {} } = deps;
  const { queue } = storage;
  const { nowMs } = clock;
  logHalfTokens(storage.register, logger).catch((err) =>
    logger.error({ err }, "failed to read the imported webhooks"),
  );

  const rates = createHostRates(options, clock);
  const attempt = createAttempt({
    ...{ post, clock },
    ...(proveFact && { readProofText: createReadProofText({ proveFact, logger }) }),
  });
  const retention = new Retention(options.retention, { steps: queue.retention, clock, logger });
  const { match, replayStep } = createSources(options, {
    ...{ storage, history, observer: matching, nowMs, logger },
  });
  const dispatcher = new Dispatcher(options, {
    deliveryQueue: queue,
    match,
    backgroundTasks: [() => queue.finishStep(nowMs()), replayStep],
    consequences: new Consequences({ observer, random, clock, logger, ...options }),
    attempt,
    rates,
    retain: () => retention.check(),
    runEnded: observer.runEnded,
    clock,
    logger,
  });
  const lease = createLease({ ownership: queue.ownership, dispatcher, onNameLost, clock, logger });
  const requests = createWebhookRequests(options, {
    ...{ storage, history, webhooksChanged, slices, observer: matching, clock, logger },
    sender: dispatcher,
    attempt: createRateLimitedAttempt(options, { attempt, clock, rates }),
  });
  return {
    ...requests,
    notify: () => dispatcher.notify(),
    async close(graceMs) {
      retention.close();
      await lease.end();
      await dispatcher.close(graceMs).finally(lease.release);
    },
  };
}

const SIGNED_BY_HALF =
  "webhooks of an imported register sign with half of their token, as ASCII text; rotate them to get a full token";

async function logHalfTokens({ webhooks }: RegisterStorage, logger: Logger): Promise<void> {
  const imported = await Promise.all((await webhooks.withAlias()).map((id) => webhooks.find(id)));
  const halves = imported.flatMap((webhook) => (webhook && isHalf(webhook.secrets.token) ? webhook.id : []));
  if (halves.length > 0) logger.info({ webhooks: halves }, SIGNED_BY_HALF);
}

type SourceDeps = Pick<WebhookDeps, "storage" | "history" | "logger"> & {
  readonly observer: MatchingObserver;
  readonly nowMs: () => number;
};

/** Creates the two steps that put deliveries into queues: for new events, and for the events of replays. */
function createSources(
  { maxContentBytes }: WebhookOptions,
  { storage, history, observer, nowMs, logger }: SourceDeps,
): { match: () => Promise<Matched>; replayStep: BackgroundTask } {
  const { network, intake, queue } = storage;
  const readDefinitions = createReadDefinitions({ intake, logger });
  const fit = createFit(maxContentBytes);
  const shared = { network, intake, readDefinitions, fit, observer, nowMs, logger };
  return {
    match: createMatcher({ ...shared, verdicts: new Verdicts({ observer, logger }) }),
    replayStep: createReplayWorker({ ...shared, replays: queue.replays, history }),
  };
}
