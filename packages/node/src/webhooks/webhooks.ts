/** The webhook service: a register, the deliveries to its webhooks, and the deletion of old ones. */
import type { Logger } from "pino";
import type { History } from "../event-log/history.ts";
import type { ProveFact } from "../proofs/assemble.ts";
import { type MatchingObserver, NO_MATCHING_OBSERVER, Slices } from "../subscriptions/conditions/slices.ts";
import { createFit } from "../subscriptions/content.ts";
import { type Clock, NO_WEBHOOK_OBSERVER, systemClock, type WebhookObserver } from "./collaborators.ts";
import { Attempts } from "./delivery/attempt.ts";
import { Consequences } from "./delivery/consequences.ts";
import { Dispatcher } from "./delivery/dispatch.ts";
import { Lease } from "./delivery/lease.ts";
import type { Post } from "./delivery/post.ts";
import type { Intake } from "./intake.ts";
import { DefinitionReader } from "./matching/definitions.ts";
import { Matcher } from "./matching/matcher.ts";
import type { DeliveryRetention, OverfullQueue } from "./model/deliveries.ts";
import { isHalf } from "./model/message.ts";
import type { WebhookOptions } from "./options.ts";
import { ProofTexts } from "./proof-text.ts";
import { ReplayWorker } from "./replay/worker.ts";
import { OwnRequests } from "./requests.ts";
import type { DeliveryQueue } from "./storage/delivery-queue.ts";
import type { RegisterStorage } from "./storage/register-commands.ts";
import type { RetentionSteps } from "./storage/retention.ts";

/** The database ports of the webhook service. `sqlite/` and `postgres/` implement them. */
export type WebhookStorage = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly queue: DeliveryQueue;
  readonly intake: Intake;
  readonly register: RegisterStorage;
};

type WebhookDeps = {
  storage: WebhookStorage;
  /** Settles when every event that the register names reaches the log (`Gateway.webhooksChanged`). */
  webhooksChanged: () => Promise<void>;
  /** Events of stored blocks, for dry runs and replays. */
  history: History;
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
  random?: () => number;
  logger: Logger;
};

/** The requests of clients, and the deliveries to the webhooks that this process owns. */
export class Webhooks {
  readonly requests: OwnRequests;
  readonly #dispatcher: Dispatcher;
  readonly #lease: Lease;
  readonly #retention: Retention;

  constructor(options: WebhookOptions, deps: WebhookDeps) {
    const { storage, history, webhooksChanged, post, proveFact, logger } = deps;
    const { clock = systemClock, random = Math.random, observer = NO_WEBHOOK_OBSERVER } = deps;
    const { matching = NO_MATCHING_OBSERVER, slices = new Slices(matching), onNameLost = () => {} } = deps;
    const { network, queue, intake } = storage;
    const { nowMs } = clock;
    logHalfTokens(storage.register, logger).catch((err) =>
      logger.error({ err }, "failed to read the imported webhooks"),
    );

    const proofs = proveFact && new ProofTexts(proveFact, logger);
    const attempt = new Attempts({ post, proofs, clock }).make;
    const retention = new Retention(options.retention, { steps: queue.retention, clock, logger });
    const definitions = new DefinitionReader(intake, logger);
    const fit = createFit(options.maxContentBytes);
    const sources = {
      network,
      intake,
      definitions,
      fit,
      observer: matching,
      nowMs,
      logger,
      // Deliveries in memory must not be sent any longer.
      onSuspended: (webhook: number) => dispatcher.queueChanged(webhook),
    };
    const matcher = new Matcher(sources);
    const replays = new ReplayWorker({ ...sources, replays: queue.replays, history });
    const dispatcher = new Dispatcher(options, {
      deliveryQueue: queue,
      match: () => matcher.step(),
      backgroundTasks: [() => queue.finishStep(nowMs()), replays.step],
      consequences: new Consequences({ observer, random, clock, logger, ...options }),
      attempt,
      retain: () => retention.check(),
      runEnded: observer.runEnded,
      clock,
      logger,
    });
    this.#retention = retention;
    this.#dispatcher = dispatcher;
    this.#lease = new Lease({ ownership: queue.ownership, dispatcher, onNameLost, clock, logger });
    this.requests = new OwnRequests(options, {
      ...{ storage, history, webhooksChanged, slices, observer: matching, clock, logger },
      sender: dispatcher,
      attempt,
    });
  }

  /** Must be called once to start deliveries, and after events were logged. */
  notify(): void {
    this.#dispatcher.notify();
  }

  /**
   * Closes the service after its running calls; deliveries without a response are sent again after the next start.
   *
   * @param graceMs time for running calls, by default `closeGraceMs`
   */
  async close(graceMs?: number): Promise<void> {
    this.#retention.close();
    await this.#lease.end();
    await this.#dispatcher.close(graceMs).finally(() => this.#lease.release());
  }
}

type RetentionDeps = {
  readonly steps: RetentionSteps;
  readonly clock: Clock;
  readonly logger: Logger;
};

const ROUND_EVERY_MS = 60_000;
/** Pause before each step, for other writers. */
const STEP_PAUSE_MS = 10;

/** Keeps the deliveries within their bounds, in small steps with pauses in between. */
class Retention {
  readonly #deps: RetentionDeps;
  readonly #bounds: DeliveryRetention;
  #nextRoundMs = 0;
  #isWorking = false;
  #isClosed = false;
  #cancelPause = () => {};

  constructor(bounds: DeliveryRetention, deps: RetentionDeps) {
    this.#bounds = bounds;
    this.#deps = deps;
  }

  /** Starts a round if the last one was long ago; call it whenever deliveries were processed. */
  check(): void {
    const nowMs = this.#deps.clock.elapsedMs();
    if (this.#isWorking || nowMs < this.#nextRoundMs) return;
    this.#nextRoundMs = nowMs + ROUND_EVERY_MS;
    this.#isWorking = true;
    this.#continue(this.#steps());
  }

  #continue(steps: AsyncGenerator<void>): void {
    this.#cancelPause = this.#deps.clock.after(STEP_PAUSE_MS, () => void this.#run(steps));
  }

  async #run(steps: AsyncGenerator<void>): Promise<void> {
    try {
      const { done = false } = await steps.next();
      this.#isWorking = !done;
      if (!done && !this.#isClosed) this.#continue(steps);
    } catch (error) {
      this.#isWorking = false;
      // The next round retries.
      this.#deps.logger.error({ err: error }, "failed to delete old webhook deliveries");
    }
  }

  /** The steps of a round: each yields after one transaction that changes rows. */
  async *#steps(): AsyncGenerator<void> {
    const { steps, clock } = this.#deps;
    const { maxWaiting } = this.#bounds;
    while (await steps.dropRemoved()) yield;
    yield;
    let queue = await steps.nextOverfull(0, maxWaiting);
    for (; queue; queue = await steps.nextOverfull(queue.webhook, maxWaiting))
      yield* this.#failSurplus(queue);
    let last: number | undefined = 0;
    while (last !== undefined) {
      // A clock that was set ahead drops no delivery.
      last = await steps.dropBehind(last, this.#bounds, Math.min(clock.nowMs(), clock.steadyMs()));
      if (last !== undefined) yield;
    }
  }

  /** Fails the surplus of one queue; the next round processes deliveries that arrive in the meantime. */
  async *#failSurplus({ webhook, surplus }: OverfullQueue): AsyncGenerator<void> {
    const { steps, clock } = this.#deps;
    let left = surplus;
    while (left > 0) {
      const failed = await steps.failSurplus({ webhook, surplus: left }, clock.nowMs());
      left = failed === 0 ? 0 : left - failed;
      yield;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause();
  }
}

const SIGNED_BY_HALF =
  "webhooks of an imported register sign with half of their token, as ASCII text; rotate them to get a full token";

async function logHalfTokens({ webhooks }: RegisterStorage, logger: Logger): Promise<void> {
  const imported = await Promise.all((await webhooks.withAlias()).map((id) => webhooks.find(id)));
  const halves = imported.flatMap((webhook) => (webhook && isHalf(webhook.secrets.token) ? webhook.id : []));
  if (halves.length > 0) logger.info({ webhooks: halves }, SIGNED_BY_HALF);
}
