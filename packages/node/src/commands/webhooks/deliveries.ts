/** `uniknode webhooks ping|deliveries|retry|replay`: inspects and repeats deliveries. */
import {
  type DeliveryRecord,
  type DeliveryState,
  jsonText,
  type Replay,
  type Retried,
  type WebhookId,
} from "@uniknode/client";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseDurationMs } from "../../platform/clock/durations.ts";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import { countOf } from "../../platform/text/wording.ts";
import { show, table } from "../connection.ts";
import { columns } from "../print.ts";
import { readCount } from "./fields.ts";
import { readId, type Service, WEBHOOK_ID, withService } from "./service.ts";

const ID = ["<id>", WEBHOOK_ID, readId] as const;
const DELIVERY = 'number of the delivery, or its "webhook-id"';
const SHOWN = 20;

export const deliveryCommands = (): Command[] => [
  pingCommand(),
  deliveriesCommand(),
  retryCommand(),
  replayCommand(),
];

function pingCommand(): Command {
  const command = new Command("ping").description("send a test delivery, and show its outcome");
  return withService<[WebhookId]>(command.argument(...ID), async ({ client, connection }, [id]) => {
    const { data } = await client.webhooks.ping(id);
    show(connection, data, linesOf(data));
    if (data.state === "delivered") return;
    throw new CodedError(
      "PING_FAILED",
      `the receiver of webhook ${id} did not accept the ping (${outcomeOf(data)}); check that it is running and responds with 2xx`,
      { isRetryable: true },
    );
  });
}

type ListOptions = { state?: DeliveryState; event?: string; height?: number; limit?: number };

const deliveriesCommand = () =>
  withService<[WebhookId, string | undefined], ListOptions>(
    new Command("deliveries")
      .description("show the newest deliveries of a webhook, or one of them with its body")
      .argument(...ID)
      .argument("[delivery]", DELIVERY)
      .addOption(
        new Option("--state <STATE>", "Only deliveries in this state.").choices([
          "pending",
          "delivered",
          "failed",
          "cancelled",
        ]),
      )
      .option("--event <NAME>", "Only deliveries of this event.")
      .option("--height <N>", "Only deliveries of this block.", readCount(1))
      .option("--limit <N>", `Maximum number of deliveries (default: ${SHOWN}).`, readCount(1)),
    (service, [id, delivery], options) =>
      delivery === undefined ? showNewest(service, id, options) : showDelivery(service, id, delivery),
  );

async function showNewest(
  { client, connection }: Service,
  id: WebhookId,
  { limit = SHOWN, state, event, height }: ListOptions,
): Promise<void> {
  const query = {
    ...(state && { state }),
    ...(event && { event }),
    ...(height !== undefined && { height }),
  };
  const records: DeliveryRecord[] = [];
  for await (const record of client.webhooks.deliveries(id, query)) {
    if (records.push(record) === limit) break;
  }
  const rows = records.map((record) => [
    `${record.id}`,
    record.state,
    record.event,
    `${record.height ?? ""}`,
    `${record.attempts.length}`,
    outcomeOf(record),
    new Date(record.createdAt).toISOString(),
  ]);
  const lines = columns(["ID", "STATE", "EVENT", "HEIGHT", "ATTEMPTS", "OUTCOME", "CREATED"], rows);
  show(connection, records, rows.length > 0 ? lines : [`webhook ${id} has no such deliveries`]);
}

async function showDelivery({ client, connection }: Service, id: WebhookId, delivery: string): Promise<void> {
  const { data } = await client.webhooks.delivery(id, delivery);
  show(connection, data, [...linesOf(data), ...(data.body ? [jsonText(data.body)] : [])]);
}

const RETRIED_STATES = ["pending", "failed", "cancelled", "delivered", "all"] as const;

type RetryOptions = {
  readonly allFailed?: boolean;
  readonly state?: (typeof RETRIED_STATES)[number];
  readonly since?: number;
};

const retryCommand = () =>
  withService<[WebhookId, readonly string[]], RetryOptions>(
    new Command("retry")
      .description("send pending, failed or cancelled deliveries immediately, or repeat a delivered one")
      .argument(...ID)
      .argument("[delivery...]", DELIVERY)
      .option("--all-failed", "All failed deliveries of the webhook.")
      .addOption(
        new Option(
          "--state <STATE>",
          'All deliveries in this state; "all" means pending, failed and cancelled.',
        ).choices(RETRIED_STATES),
      )
      .option(
        "--since <TIME>",
        `With --all-failed or --state: only deliveries created since ${TIME}.`,
        readTime,
      ),
    (service, [id, deliveries], options) => retry(service, id, deliveries, options),
  );

async function retry(
  { client, connection }: Service,
  id: WebhookId,
  deliveries: readonly string[],
  { allFailed = false, state, since = 0 }: RetryOptions,
): Promise<void> {
  const chosen = state ?? (allFailed ? "failed" : undefined);
  if ((deliveries.length === 0) === (chosen === undefined) || (allFailed && state !== undefined)) {
    throw new ConfigError(
      `retry: give either deliveries, --all-failed or --state; "uniknode webhooks deliveries ${id}" shows the deliveries`,
    );
  }
  if (chosen !== undefined) {
    const { data } = await client.webhooks.retryAll(id, { state: chosen, from: since });
    const kind = chosen === "all" ? "" : `${chosen} `;
    return show(connection, data, sentLines(data, `${kind}deliveries`));
  }
  if (deliveries.length > 1) {
    const { data } = await client.webhooks.retryAll(id, { deliveries });
    return show(connection, data, sentLines(data, "deliveries"));
  }
  const [delivery] = deliveries as [string];
  await client.webhooks.retry(id, delivery);
  show(connection, { id, delivery, retried: 1 }, [`delivery ${delivery} is sent again`]);
}

function sentLines({ retried, notSent }: Retried, plural: string): string[] {
  const lines = [`${countOf(retried, plural)} ${retried === 1 ? "is" : "are"} sent again`];
  return notSent === undefined ? lines : [...lines, notSent];
}

const replayCommand = () =>
  withService<[WebhookId], { from?: number; to?: number; cancel?: boolean }>(
    new Command("replay")
      .description("deliver the events of a range of blocks again, or show the progress of the last replay")
      .argument(...ID)
      .option("--from <HEIGHT>", "First block; if not given, the last replay is shown.", readCount(1))
      .option("--to <HEIGHT>", "Last block (default: the head).", readCount(1))
      .option("--cancel", "Cancel the running replay."),
    async ({ client, connection }, [id], { from, to, cancel = false }) => {
      if (cancel) {
        await client.webhooks.cancelReplay(id);
        return show(connection, { id, cancelled: true }, [`the replay of webhook ${id} is cancelled`]);
      }
      if (from === undefined) {
        if (to !== undefined) throw new ConfigError("replay: --to requires --from, the first block");
        const { data } = await client.webhooks.getReplay(id);
        return show(connection, data, replayLines(data));
      }
      const toHeight = to ?? (await client.blockchain.get()).data.block.height;
      const { data } = await client.webhooks.replay(id, { fromHeight: from, toHeight });
      show(connection, data, replayLines(data));
    },
  );

const replayLines = (replay: Replay): string[] =>
  table([
    ["state", replay.state],
    ["reason", replay.reason],
    ["blocks", `${replay.fromHeight} to ${replay.toHeight}, next ${replay.nextHeight}`],
    ["events", `${replay.events}`],
    ["waiting", `${replay.waiting}`],
  ]);

const linesOf = (record: DeliveryRecord): string[] =>
  table([
    ["delivery", record.id],
    ["webhook-id", record.messageId],
    ["event", record.event],
    ["height", record.height],
    ["state", record.state],
    ["outcome", outcomeOf(record)],
    ["attempts", `${record.attempts.length}`],
    ["created", new Date(record.createdAt).toISOString()],
    [
      "next attempt",
      record.nextAttemptAt === undefined ? undefined : new Date(record.nextAttemptAt).toISOString(),
    ],
  ]);

/** Returns the reason why a delivery ended, or else the outcome of its last attempt. */
function outcomeOf({ attempts, reason }: DeliveryRecord): string {
  const last = attempts.at(-1);
  // A NATS server acknowledges without a status.
  return (
    reason ?? (last?.status === undefined ? (last?.error ?? last?.response) : `HTTP ${last.status}`) ?? ""
  );
}

const TIME = "2026-01-31, 2026-01-31T12:00Z, 2h for two hours ago, or milliseconds since 1970";

/** A date with an optional time; without a zone, it is in UTC. */
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Converts a date, a time span before now, or a number of milliseconds to milliseconds since 1970.
 *
 * @throws {InvalidArgumentError} on any other text
 */
export function readTime(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const spanMs = parseDurationMs(text);
  if (!Number.isNaN(spanMs)) return Math.max(0, Date.now() - spanMs);
  const [, time, , , zone] = DATE.exec(text) ?? [];
  const ms = DATE.test(text)
    ? Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text)
    : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) throw new InvalidArgumentError(`A time is expected: ${TIME}.`);
  return ms;
}
