/**
 * Keeps the lease of the owned webhooks, and reports their changes to the dispatcher. A process that owns all webhooks has no
 * lease, and nothing to do here.
 */
import type { Logger } from "pino";
import { type Clock, FailureLog } from "../collaborators.ts";
import { NameInUseError, type Ownership } from "../ownership.ts";
import { CALL_MARGIN_MS, type Dispatcher } from "./dispatch.ts";

type LeaseDeps = {
  readonly ownership: Ownership;
  readonly dispatcher: Dispatcher;
  /** Called when another process has the name of this worker, which then sends nothing. */
  readonly onNameLost: (error: NameInUseError) => void;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "info" | "warn">;
};

const RENEW_EVERY_MS = 3_000;
/** Renewals that can fail before calls stop. */
const SPARE_RENEWALS = 3;
const RETRY_MS = 1_000;
const READ_CHANGES_EVERY_MS = 200;

/** Returns the duration of a lease in which calls with this timeout can always start. */
export const leaseMsFor = (callTimeoutMs: number): number =>
  callTimeoutMs + CALL_MARGIN_MS + SPARE_RENEWALS * RENEW_EVERY_MS;

export class Lease {
  readonly #deps: LeaseDeps;
  /** Work that is repeated; none without a lease. */
  readonly #repetitions: readonly Repetition[];
  readonly #renewLog: FailureLog;
  readonly #changesLog: FailureLog;
  /** Webhooks that other processes should own. */
  readonly #surplus = new Set<number>();
  #isGivingUp = false;
  #isEnded = false;

  constructor(deps: LeaseDeps) {
    const { ownership, clock, logger } = deps;
    this.#deps = deps;
    this.#renewLog = new FailureLog(
      logger,
      "failed to renew the lease of webhooks; calls stop before it ends",
      "the lease of webhooks is renewed again",
    );
    this.#changesLog = new FailureLog(
      logger,
      "failed to read the changes of webhooks by other processes",
      "the changes of webhooks by other processes are read again",
    );
    const hasLease = ownership.remainingMs() !== Number.POSITIVE_INFINITY;
    const works = hasLease ? [() => this.#renew(), () => this.#readChanges()] : [];
    this.#repetitions = works.map((work) => new Repetition(work, clock));
  }

  /** Ends the renewals. Must be called before the dispatcher is closed. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.all(this.#repetitions.map((each) => each.end()));
  }

  /** Lets other processes own the webhooks at once. Must be called after the dispatcher was closed. */
  async release(): Promise<void> {
    const { ownership, logger } = this.#deps;
    if (this.#repetitions.length === 0) return;
    await ownership
      .release()
      .catch((err) =>
        logger.warn({ err }, "failed to end the lease; other workers take over when it ends by itself"),
      );
  }

  /** Resolves to the milliseconds until the next renewal. */
  async #renew(): Promise<number> {
    const { ownership, dispatcher, onNameLost } = this.#deps;
    try {
      const change = await ownership.renew();
      for (const webhook of change.lost) this.#surplus.delete(webhook);
      for (const webhook of change.surplus) this.#surplus.add(webhook);
      dispatcher.lost(change.lost);
      dispatcher.gained(change.gained);
      // Calls that waited for the renewal can start.
      dispatcher.notify();
      this.#renewLog.noteSuccess();
    } catch (error) {
      if (error instanceof NameInUseError) onNameLost(error);
      else this.#renewLog.noteFailure(error);
      return RETRY_MS;
    }
    void this.#giveUpSurplus();
    return RENEW_EVERY_MS;
  }

  /** Gives up the surplus after its running calls. A failure is repeated with the next renewal. */
  async #giveUpSurplus(): Promise<void> {
    const { ownership, dispatcher, logger } = this.#deps;
    if (this.#surplus.size === 0 || this.#isGivingUp) return;
    this.#isGivingUp = true;
    const webhooks = [...this.#surplus];
    await dispatcher.finishCalls(webhooks);
    // Some were lost meanwhile, and possibly gained again.
    const given = webhooks.filter((webhook) => this.#surplus.has(webhook));
    try {
      if (!this.#isEnded && given.length > 0) {
        dispatcher.lost(given);
        await ownership.giveUp(given);
        for (const webhook of given) this.#surplus.delete(webhook);
      }
    } catch (err) {
      logger.warn({ err }, "failed to give up webhooks to other workers; repeated with the next renewal");
    }
    this.#isGivingUp = false;
  }

  /** Resolves to the milliseconds until the next read. */
  async #readChanges(): Promise<number> {
    const { ownership, dispatcher } = this.#deps;
    try {
      for (const { webhook, isRestart } of await ownership.takeChanges()) {
        if (isRestart) dispatcher.queueRestarted(webhook);
        else dispatcher.queueChanged(webhook);
      }
      this.#changesLog.noteSuccess();
    } catch (error) {
      // The database may have removed changes that did not arrive.
      dispatcher.changesMissed();
      this.#changesLog.noteFailure(error);
      return RETRY_MS;
    }
    return READ_CHANGES_EVERY_MS;
  }
}

/** Work that is repeated after the pause in ms to which it resolves. */
class Repetition {
  readonly #work: () => Promise<number>;
  readonly #clock: Pick<Clock, "after">;
  #isEnded = false;
  #cancel = () => {};
  #running: Promise<void>;

  constructor(work: () => Promise<number>, clock: Pick<Clock, "after">) {
    this.#work = work;
    this.#clock = clock;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const pauseMs = await this.#work();
    if (this.#isEnded) return;
    this.#cancel = this.#clock.after(pauseMs, () => {
      this.#running = this.#run();
    });
  }

  /** Settles when the work is not running. */
  end(): Promise<void> {
    this.#isEnded = true;
    this.#cancel();
    return this.#running;
  }
}
