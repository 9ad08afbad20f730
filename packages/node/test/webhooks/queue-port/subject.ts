/**
 * Subject of the suite: a storage of webhooks without chain, into which a test inserts webhooks and
 * deliveries.
 */
import type { Event } from "../../../src/events/catalogue.ts";
import { present } from "../../../src/platform/present.ts";
import type { Applied, DeliveryDraft, IntakeBatch, IntakeCommand } from "../../../src/webhooks/intake.ts";
import type { WaitingDelivery } from "../../../src/webhooks/model/deliveries.ts";
import type { Replay } from "../../../src/webhooks/model/replay.ts";
import type { WebhookFields } from "../../../src/webhooks/model/webhook.ts";
import type { DeliveryQueue } from "../../../src/webhooks/storage/delivery-queue.ts";
import type { WebhookStorage } from "../../../src/webhooks/webhooks.ts";

export type Subject = WebhookStorage & {
  /** Registers an active webhook. Returns its id. */
  addWebhook(fields?: Partial<WebhookFields>): Promise<number>;
  /** Writes events to the log, each of which must have a name of the catalogue. */
  append(events: readonly Event[]): Promise<void>;
  /** Lets another client of the database hold the write lock until the returned function is called. */
  holdUp(): Promise<() => Promise<void>>;
  /** State after a crash, in place of this subject: everything that was recorded, and nothing else in memory. */
  crash(): Promise<Subject>;
};

/** Everything opened is closed with the test. */
export type OpenSubject = () => Promise<Subject>;

export const FIELDS: WebhookFields = {
  event: "block.applied",
  events: [],
  target: "https://receiver.example/hook",
  enabled: true,
  conditions: "[]",
  match: "any",
  order: "parallel",
  confirmations: 0,
  proof: false,
};
export const TOKEN = "5".repeat(64);
const WEBHOOK_LIMIT = 10_000;

/** Registers an active webhook. Returns its id. */
export async function addWebhook(
  { commands }: WebhookStorage["register"],
  fields: Partial<WebhookFields> = {},
): Promise<number> {
  const { id } = await commands.insert({ fields: { ...FIELDS, ...fields }, token: TOKEN }, WEBHOOK_LIMIT);
  await commands.activate(id);
  return id;
}

/** Returns the next untried deliveries of one webhook after a number. */
export async function nextFirst(
  queue: DeliveryQueue,
  webhook: number,
  after: number,
  limit: number,
): Promise<readonly WaitingDelivery[]> {
  const [deliveries] = await queue.nextFirst([{ webhook, after, limit }]);
  return present(deliveries, "the deliveries of the webhook");
}

export const NOW_MS = 1_700_000_000_000;

export type Extra = Partial<Omit<DeliveryDraft, "webhook">>;

export const enqueue = (webhook: number, id: string, extra: Extra = {}): IntakeCommand => ({
  kind: "enqueue",
  delivery: { webhook, id, event: "block.applied", content: { dataText: `{"id":"${id}"}` }, ...extra },
});

/** Applies commands by the current register. */
export async function apply(
  { intake }: Subject,
  commands: readonly IntakeCommand[],
  position: IntakeBatch["position"] = { reader: "log" },
): Promise<Applied> {
  const { version: registerVersion } = present(await intake.activeWebhooks(undefined));
  return intake.apply({ registerVersion, atMs: NOW_MS, commands, position });
}

/** Puts deliveries into the queue of a webhook, in one batch. Returns their numbers. */
export async function put(
  subject: Subject,
  webhook: number,
  ids: readonly string[],
  extra: Extra = {},
): Promise<number[]> {
  await apply(
    subject,
    ids.map((id) => enqueue(webhook, id, extra)),
  );
  const { log } = subject.queue;
  const { records } = await log.page(webhook, {}, { limit: ids.length });
  const numbers = new Map(records.map(({ id, number }) => [id, number]));
  const numberOf = async (id: string) =>
    numbers.get(id) ?? present((await log.find(webhook, [id]))[0], `the delivery ${id}`).number;
  return Promise.all(ids.map(numberOf));
}

/** Puts deliveries into the replay lane of a webhook, in one batch, and starts its replay unless it is running. */
export async function putReplayed(
  subject: Subject,
  webhook: number,
  ids: readonly string[],
  next?: Pick<Replay, "nextHeight" | "nextIndex">,
): Promise<Applied> {
  const { replays } = subject.queue;
  await replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
  const replay = present(await replays.find(webhook), "the replay");
  const commands = ids.map((id) => enqueue(webhook, id));
  return apply(subject, commands, { reader: "replay", replay, next: next ?? replay });
}
