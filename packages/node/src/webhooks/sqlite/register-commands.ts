/** Changes of the register in SQLite: those that arrive within a short time share one transaction. */
import type { Database } from "../../store/engine/database.ts";
import { createGroupCommit } from "../../store/engine/group-commit.ts";
import { checkLimits, planUpdate } from "../register/changes.ts";
import type { NewPing, RegisterCommands, Update, Updated } from "../register/rows.ts";
import { beginFinish, beginRestart } from "../storage/queues.ts";
import { endReplay } from "../storage/replays.ts";
import { createContentStore, createDeliveryStore } from "./deliveries.ts";
import { createWebhookHealthStore } from "./health.ts";
import { runNow, sqlOf } from "./sql.ts";
import type { WebhookStore } from "./webhooks.ts";

export type RegisterCommandDeps = {
  readonly database: Database;
  readonly webhooks: WebhookStore;
  /** Returns the sequence of the newest event ever logged. */
  readonly lastEvent: () => number;
};

export function createSqliteRegisterCommands(deps: RegisterCommandDeps): RegisterCommands {
  const { database, webhooks, lastEvent } = deps;
  const commit = createGroupCommit(database);
  const update = createUpdate(deps);
  const putPing = createPutPing(database);
  const { resume } = createWebhookHealthStore(database);
  const sql = sqlOf(database);
  return {
    insert: ({ fields, token }, webhookLimit) =>
      commit(() => {
        const size = { count: webhooks.count(), conditionsBytes: webhooks.conditionsBytes() };
        checkLimits(size, [fields], webhookLimit);
        return webhooks.insert(fields, token);
      }),
    activate: (id, ping) =>
      commit(() => {
        webhooks.activate(id, lastEvent());
        if (ping) putPing(ping);
      }),
    update: (id, change) => commit(() => update(id, change)),
    rotate: (id, token, untilMs) =>
      commit(() => {
        webhooks.rotate(id, token, untilMs);
        return webhooks.find(id);
      }),
    remove: (id) => commit(() => webhooks.remove(id)),
    resume: (id) =>
      commit(() => {
        resume(id, lastEvent());
        runNow(beginRestart(sql, id));
      }),
  };
}

function createUpdate({ database, webhooks, lastEvent }: RegisterCommandDeps) {
  const sql = sqlOf(database);

  /** Cancels pending deliveries of the webhook and its replay. Returns the number of deliveries. */
  function dropQueue(
    id: number,
    withRetractions: boolean,
    { reason, atMs }: NonNullable<Update["drop"]>,
  ): number {
    const dropped = webhooks.queued(id);
    runNow(endReplay(sql, id, "cancelled", atMs, reason));
    runNow(beginFinish(sql, id, { state: "cancelled", reason, withRetractions }, atMs));
    return dropped;
  }

  return (id: number, { changes, drop }: Update): Updated | undefined => {
    const before = webhooks.find(id);
    if (!before) return undefined;
    const { after, isMoved, wasActive, restarts } = planUpdate(before, changes, () =>
      webhooks.conditionsBytes(id),
    );
    const dropped = drop ? dropQueue(id, isMoved, drop) : 0;
    webhooks.replace(id, after, wasActive ? undefined : lastEvent());
    if (restarts) runNow(beginRestart(sql, id));
    return { before, after, restarts, dropped };
  };
}

function createPutPing(database: Database): (ping: NewPing) => void {
  const contents = createContentStore(database);
  const deliveries = createDeliveryStore(database);
  return ({ createdMs, content, ...ping }) =>
    void deliveries.insert({ ...ping, content: contents.insert(content) }, createdMs);
}
