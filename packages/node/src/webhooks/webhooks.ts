/** The webhook service: a register, and the deliveries to its webhooks. */
import type { Logger } from "pino";
import type { History } from "../event-log/history.ts";
import {
  createSlices,
  type MatchingObserver,
  NO_MATCHING_OBSERVER,
  type Slices,
} from "../subscriptions/conditions/slices.ts";
import { createFit } from "../subscriptions/content.ts";
import {
  type Attempted,
  type Clock,
  NO_WEBHOOK_OBSERVER,
  systemClock,
  type WebhookObserver,
} from "./collaborators.ts";
import { createAttempt } from "./delivery/attempt.ts";
import { createConsequences } from "./delivery/consequences.ts";
import { createDispatcher } from "./delivery/dispatch.ts";
import { createHostRates, createRateLimitedAttempt } from "./delivery/host-rate-limit.ts";
import { createLease } from "./delivery/lease.ts";
import { createPing, type Ping } from "./delivery/ping.ts";
import type { Post } from "./delivery/post.ts";
import { createRetention } from "./delivery/retention.ts";
import type { BackgroundTask } from "./delivery/sources.ts";
import { createDeliveryLog, type DeliveryLog, type DeliveryWithBody } from "./delivery-log/delivery-log.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { createDryRun, type DryRun } from "./dry-run.ts";
import type { Intake } from "./intake.ts";
import { createAwaitMatched } from "./matching/await-matched.ts";
import { createReadDefinitions } from "./matching/definitions.ts";
import { createMatcher, type Matched } from "./matching/matcher.ts";
import { createVerdicts } from "./matching/verdicts.ts";
import { isHalf } from "./model/message.ts";
import type { WebhookOptions } from "./options.ts";
import { createRegister, type Register } from "./register/register.ts";
import type { RegisterStorage } from "./register/rows.ts";
import { createReplays, type Replays } from "./replay/replays.ts";
import { createReplayWorker } from "./replay/worker.ts";

/** The database ports of the webhook service. `sqlite/` implements them. */
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
  /** Absent: no metrics. */
  observer?: WebhookObserver;
  /** Observer of the cost of conditions. Absent: no metrics. */
  matching?: MatchingObserver;
  /** Slices that all evaluators of conditions in this thread share; absent: no other evaluators run. */
  slices?: Slices;
  clock?: Clock;
  /** Defaults to `Math.random`. */
  random?: () => number;
  logger: Logger;
};

/** The functions that clients request. */
export type WebhookRequests = Pick<Webhooks, "log" | "dryRun" | "replays" | "ping" | "pingTarget"> & {
  readonly register: Omit<Register, "readTarget" | "resume">;
};

export type Webhooks = {
  readonly register: Register;
  readonly log: DeliveryLog;
  readonly dryRun: DryRun;
  readonly replays: Replays;
  /**
   * Sends a ping to the target of a webhook, even if the webhook is disabled. A success lifts a suspension.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, PING_RUNNING
   */
  ping(id: string): Promise<DeliveryWithBody>;
  /**
   * Sends a ping to `body.target`, before a webhook with it is registered.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} PING_RUNNING
   */
  pingTarget(body: unknown): Promise<Attempted>;
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
  const { storage, history, webhooksChanged, post, logger } = deps;
  const { clock = systemClock, random = Math.random, observer = NO_WEBHOOK_OBSERVER } = deps;
  const { matching = NO_MATCHING_OBSERVER, slices = createSlices(matching) } = deps;
  const { queue } = storage;
  const { nowMs } = clock;
  logHalfTokens(storage.register, logger).catch((err) =>
    logger.error({ err }, "failed to read the imported webhooks"),
  );

  const rates = createHostRates(options, clock);
  const attempt = createAttempt({ post, clock });
  const retention = createRetention(options.retention, { steps: queue.retention, clock, logger });
  const { match, replayStep } = createSources(options, {
    ...{ storage, history, observer: matching, nowMs, logger },
  });
  const dispatcher = createDispatcher(options, {
    deliveryQueue: queue,
    match,
    backgroundTasks: [() => queue.finishStep(nowMs()), replayStep],
    consequences: createConsequences({ observer, random, logger, ...options }),
    attempt,
    rates,
    retain: retention.check,
    runEnded: observer.runEnded,
    clock,
    logger,
  });
  const lease = createLease({ ownership: queue.ownership, dispatcher, clock, logger });
  const { queueChanged: onChanged, queueRestarted: onRestarted, isUnderWay } = dispatcher;
  const rateLimitedAttempt = createRateLimitedAttempt(options, { attempt, clock, rates });
  const ping = createPing({ deliveryQueue: queue, attempt: rateLimitedAttempt, nowMs });
  const register = createRegister(options, {
    storage: storage.register,
    webhooksChanged,
    createPing: ping.create,
    onChanged,
    onRestarted,
    awaitMatched: createAwaitMatched(storage.register, dispatcher.notify),
    nowMs,
    logger,
  });
  const { find: findWebhook } = register;
  const log = createDeliveryLog({ rows: queue.log, findWebhook, onQueued: onChanged, isUnderWay, nowMs });
  return {
    register,
    log,
    dryRun: createDryRun({ history, slices, observer: matching }),
    replays: createReplays({ rows: queue.replays, history, findWebhook, onChanged, nowMs }),
    ping: (id) => sendPing(id, { register, ping, log }),
    pingTarget: async (body) => ping.sendTo(register.readTarget(body)),
    notify: dispatcher.notify,
    async close(graceMs) {
      retention.close();
      await lease.end();
      await dispatcher.close(graceMs).finally(lease.release);
    },
  };
}

const SIGNED_BY_HALF =
  "webhooks of an imported register sign with half of their token, as ASCII text; rotate them to get a full token";

async function logHalfTokens({ webhooks, aliases }: RegisterStorage, logger: Logger): Promise<void> {
  const imported = await Promise.all((await aliases.webhooks()).map((id) => webhooks.find(id)));
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
    match: createMatcher({ ...shared, verdicts: createVerdicts({ observer, logger }) }),
    replayStep: createReplayWorker({ ...shared, replays: queue.replays, history }),
  };
}

/** Sends a ping; a success lifts a suspension. */
async function sendPing(
  id: string,
  { register, ping, log }: { register: Register; ping: Ping; log: DeliveryLog },
): Promise<DeliveryWithBody> {
  const webhook = await register.find(id);
  const { number, isSuccess } = await ping.send(webhook);
  if (isSuccess && webhook.suspended !== undefined) await register.resume(webhook.id);
  return log.find(id, `${number}`);
}
