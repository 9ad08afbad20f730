/** Replays in the API: start, find, cancel (webhooks.md 10 point 5). */
import { type History, isRemembered } from "../../event-log/history.ts";
import { subscribedNames } from "../../events/catalogue.ts";
import { integer, invalid, type Readers, readMembers, required } from "../../subscriptions/fields.ts";
import { checkOn } from "../delivery-log/retries.ts";
import { WebhookError } from "../error.ts";
import type { ReplayProgress } from "../model/replay.ts";
import { checkEvents, type Webhook } from "../model/webhook.ts";
import type { ReplayRows } from "../storage/replays.ts";

type ReplaysDeps = {
  rows: Pick<ReplayRows, "start" | "find" | "cancel">;
  history: Pick<History, "head">;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Promise<Webhook>;
  onChanged: (webhook: number) => void;
  nowMs: () => number;
};

const READERS: Readers<{ fromHeight: number; toHeight: number }> = {
  fromHeight: integer(1, Number.MAX_SAFE_INTEGER),
  toHeight: integer(1, Number.MAX_SAFE_INTEGER),
};

/** Ids may be any text. */
export class Replays {
  readonly #deps: ReplaysDeps;

  constructor(deps: ReplaysDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a replay from `body.fromHeight` to `body.toHeight`, both included. The range ends at the last height with
   * enough confirmations.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, REPLAY_RUNNING
   */
  async start(id: string, body: unknown): Promise<ReplayProgress> {
    const { rows, history, findWebhook, onChanged, nowMs } = this.#deps;
    const given = readMembers(body, READERS);
    const fromHeight = required(given.fromHeight, "fromHeight");
    const askedHeight = required(given.toHeight, "toHeight");
    const webhook = await findWebhook(id);
    const highest = Math.max(0, (await history.head()) - webhook.confirmations);
    const toHeight = Math.min(askedHeight, highest);
    if (fromHeight > toHeight) {
      throw invalid(
        `"fromHeight" must not be greater than "toHeight", nor than ${highest}, the last height whose events are delivered`,
      );
    }
    if (![...subscribedNames(checkEvents(webhook)).keys()].some(isRemembered)) {
      throw invalid(
        "no event of the webhook can be derived from stored blocks: docs/reference/events.md lists the derivable events",
      );
    }
    checkOn(webhook);
    if (!(await rows.start(webhook.id, { fromHeight, toHeight }, nowMs()))) {
      throw new WebhookError(
        "REPLAY_RUNNING",
        `a replay of webhook ${webhook.id} is running: wait for it to finish, or cancel it with DELETE`,
      );
    }
    onChanged(webhook.id);
    return this.find(`${webhook.id}`);
  }

  /**
   * Returns the last replay of the webhook, running or finished.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, REPLAY_UNKNOWN
   */
  async find(id: string): Promise<ReplayProgress> {
    const { id: webhook } = await this.#deps.findWebhook(id);
    const replay = await this.#deps.rows.find(webhook);
    if (replay) return replay;
    throw new WebhookError(
      "REPLAY_UNKNOWN",
      `webhook ${webhook} has no replay: POST /api/v2/webhooks/${webhook}/replay starts one`,
    );
  }

  /**
   * Cancels the replay: its pending deliveries are not sent.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, REPLAY_UNKNOWN
   */
  async cancel(id: string): Promise<void> {
    const { rows, onChanged, nowMs } = this.#deps;
    const { webhook, state } = await this.find(id);
    if (state !== "running")
      throw new WebhookError(
        "REPLAY_UNKNOWN",
        `no replay of webhook ${webhook} is running: there is nothing to cancel`,
      );
    await rows.cancel(webhook, nowMs());
    onChanged(webhook);
  }
}
