/**
 * Keeps the lease of the owned webhooks, and reports their changes to the dispatcher. A process that owns all webhooks has no
 * lease, and nothing to do here.
 */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import { NameInUseError, type Ownership } from "../ownership.ts";
import { CALL_MARGIN_MS, type Dispatcher } from "./dispatch.ts";

export type Lease = {
  /** Ends the renewals. Must be called before the dispatcher is closed. */
  end(): Promise<void>;
  /** Lets other processes own the webhooks at once. Must be called after the dispatcher was closed. */
  release(): Promise<void>;
};

export type LeaseDeps = {
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
/** Pause after a failure. */
const RETRY_MS = 1_000;
const READ_CHANGES_EVERY_MS = 200;

/** Returns the duration of a lease in which calls with this timeout can always start. */
export const leaseMsFor = (callTimeoutMs: number): number =>
  callTimeoutMs + CALL_MARGIN_MS + SPARE_RENEWALS * RENEW_EVERY_MS;

type State = LeaseDeps & {
  /** Webhooks that other processes should own. */
  readonly surplus: Set<number>;
  isGivingUp: boolean;
  isEnded: boolean;
};

export function createLease(deps: LeaseDeps): Lease {
  const { ownership, logger } = deps;
  const hasLease = ownership.remainingMs() !== Number.POSITIVE_INFINITY;
  if (!hasLease) return { async end() {}, async release() {} };
  const state: State = { ...deps, surplus: new Set(), isGivingUp: false, isEnded: false };
  const renewals = repeat(state, createRenew(state));
  const changes = repeat(state, createReadChanges(state));
  return {
    async end() {
      state.isEnded = true;
      await Promise.all([renewals(), changes()]);
    },
    async release() {
      await ownership
        .release()
        .catch((err) =>
          logger.warn({ err }, "failed to end the lease; other workers take over when it ends by itself"),
        );
    },
  };
}

/**
 * Repeats work after the pause in ms to which it resolves.
 *
 * @returns function that ends the repetitions, and settles when the work is not running
 */
function repeat({ clock }: State, work: () => Promise<number>): () => Promise<void> {
  let isEnded = false;
  let cancel = () => {};
  let running: Promise<void>;
  const run = () => {
    running = work().then((pauseMs) => {
      if (!isEnded) cancel = clock.after(pauseMs, run);
    });
  };
  run();
  return () => {
    isEnded = true;
    cancel();
    return running;
  };
}

function createRenew(state: State): () => Promise<number> {
  const { ownership, dispatcher, surplus, onNameLost } = state;
  const log = createTroubleLog(state, {
    failed: "failed to renew the lease of webhooks; calls stop before it ends",
    works: "the lease of webhooks is renewed again",
  });
  return async () => {
    try {
      const change = await ownership.renew();
      for (const webhook of change.lost) surplus.delete(webhook);
      for (const webhook of change.surplus) surplus.add(webhook);
      dispatcher.lost(change.lost);
      dispatcher.gained(change.gained);
      // Calls that waited for the renewal can start.
      dispatcher.notify();
      log.noteSuccess();
    } catch (error) {
      if (error instanceof NameInUseError) onNameLost(error);
      else log.noteFailure(error);
      return RETRY_MS;
    }
    void giveUpSurplus(state);
    return RENEW_EVERY_MS;
  };
}

/** Gives up the surplus after its running calls. A failure is repeated with the next renewal. */
async function giveUpSurplus(state: State): Promise<void> {
  const { ownership, dispatcher, surplus, logger } = state;
  if (surplus.size === 0 || state.isGivingUp) return;
  state.isGivingUp = true;
  const webhooks = [...surplus];
  await dispatcher.finishCalls(webhooks);
  // Some were lost meanwhile, and possibly gained again.
  const given = webhooks.filter((webhook) => surplus.has(webhook));
  try {
    if (!state.isEnded && given.length > 0) {
      dispatcher.lost(given);
      await ownership.giveUp(given);
      for (const webhook of given) surplus.delete(webhook);
    }
  } catch (err) {
    logger.warn({ err }, "failed to give up webhooks to other workers; repeated with the next renewal");
  }
  state.isGivingUp = false;
}

function createReadChanges(state: State): () => Promise<number> {
  const { ownership, dispatcher } = state;
  const log = createTroubleLog(state, {
    failed: "failed to read the changes of webhooks by other processes",
    works: "the changes of webhooks by other processes are read again",
  });
  return async () => {
    try {
      for (const { webhook, isRestart } of await ownership.takeChanges()) {
        if (isRestart) dispatcher.queueRestarted(webhook);
        else dispatcher.queueChanged(webhook);
      }
      log.noteSuccess();
    } catch (error) {
      // The database may have removed changes that did not arrive.
      dispatcher.changesMissed();
      log.noteFailure(error);
      return RETRY_MS;
    }
    return READ_CHANGES_EVERY_MS;
  };
}

/** Logs the first of consecutive failures, and the first success afterwards. */
function createTroubleLog(
  { logger }: Pick<State, "logger">,
  messages: { readonly failed: string; readonly works: string },
) {
  let isFailing = false;
  return {
    noteFailure(err: unknown): void {
      if (!isFailing) logger.warn({ err }, messages.failed);
      isFailing = true;
    },
    noteSuccess(): void {
      if (isFailing) logger.info(messages.works);
      isFailing = false;
    },
  };
}
