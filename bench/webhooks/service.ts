/** Webhook service on a real database file, with an event log that the caller writes like a chain. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVERY_EVENT } from "@uniknode/client";
import { pino } from "pino";
import type { Event } from "../../packages/node/src/events/catalogue.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { EventLog } from "../../packages/node/src/store/events/event-log.ts";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../packages/node/src/webhooks/delivery/post.ts";
import type { WebhookFields } from "../../packages/node/src/webhooks/model/webhook.ts";
import { DEFAULT_WEBHOOK_OPTIONS, type WebhookOptions } from "../../packages/node/src/webhooks/options.ts";
import { openSqliteStorage } from "../../packages/node/src/webhooks/sqlite/storage.ts";
import { Webhooks } from "../../packages/node/src/webhooks/webhooks.ts";
import { createWebhookStore } from "../../packages/node/test-support/webhooks/sqlite-register.ts";

export type Service = {
  readonly webhooks: Webhooks;
  readonly database: Database;
  readonly eventLog: EventLog;
  /** Registers webhooks without the checks of the register. */
  register(fields: readonly Partial<WebhookFields>[]): void;
  /** Writes events in one durable transaction, as the commit of a block does. */
  commit(events: readonly Event[]): void;
  close(): Promise<void>;
};

const ALWAYS = JSON.stringify([EVERY_EVENT]);
const TOKEN = "5".repeat(64);

export function openService(options: Partial<WebhookOptions> = {}): Service {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
  const path = join(folder, "node.sqlite");
  // The chain and the serving thread each have a connection.
  const chain = openDatabase(path);
  migrate(chain);
  const database = openDatabase(path);
  const names = new Set(["block.applied", "transaction.applied"]);
  const chainLog = new EventLog(chain, { recordedNames: () => names });
  const eventLog = new EventLog(database, { recordedNames: () => new Set() });
  const store = createWebhookStore(database);
  const sender = new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true });
  const webhooks = new Webhooks(
    { ...DEFAULT_WEBHOOK_OPTIONS, ...options },
    {
      storage: openSqliteStorage({ database, eventLog }),
      webhooksChanged: async () => {},
      history: { head: async () => 0, eventsAt: async () => [] },
      post: sender.post,
      logger: pino({ level: "warn" }),
    },
  );
  return {
    webhooks,
    database,
    eventLog,
    register(fields) {
      database.transaction(() => {
        for (const given of fields) {
          const webhook = store.insert(
            {
              event: "transaction.applied",
              events: [],
              target: "http://127.0.0.1:9/hook",
              enabled: true,
              conditions: ALWAYS,
              match: "any",
              order: "parallel",
              confirmations: 0,
              proof: false,
              ...given,
            },
            TOKEN,
          );
          store.activate(webhook.id, eventLog.lastSequence());
        }
      });
    },
    commit: (events) => chain.transaction(() => chainLog.append(events)),
    async close() {
      await webhooks.close();
      await sender.close();
      database.close();
      chain.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A transfer event as the chain emits it. */
export const transferApplied = (height: number, sequence: number): Event => {
  const blockId = `${height}`.padStart(64, "0");
  return {
    id: `transaction.applied:${blockId}:${sequence}`,
    name: "transaction.applied",
    height,
    blockId,
    data: {
      version: 2,
      network: 30,
      typeGroup: 1,
      type: 0,
      nonce: `${sequence + 1}`,
      senderPublicKey: "02".padEnd(66, "a"),
      fee: "10000000",
      amount: `${(height * 1_000 + sequence) * 100_000}`,
      expiration: 0,
      recipientId: "DJmvhhiQFSrEQCq9FUxvcLcpcBjx7K3yLt",
      signature: "3".repeat(128),
      id: `${height}-${sequence}`.padStart(64, "f"),
      blockId,
      sequence,
    },
  };
};
