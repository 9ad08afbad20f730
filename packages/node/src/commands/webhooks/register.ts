/** `uniknode webhooks list|show|create|update|pause|resume|delete|rotate`: manages the register. */
import {
  type DeliverySummary,
  isEveryEvent,
  type Webhook,
  type WebhookId,
  type WebhookWithToken,
} from "@uniknode/client";
import { Command } from "commander";
import { ConfigError } from "../../platform/coded-error.ts";
import { show, table } from "../connection.ts";
import { columns } from "../print.ts";
import {
  addFields,
  addQueueFlag,
  changesOf,
  type FieldOptions,
  type QueueOption,
  queueOf,
  readConditions,
  readCount,
} from "./fields.ts";
import { readId, type Service, WEBHOOK_ID, withService } from "./service.ts";

const ID = ["<id>", WEBHOOK_ID, readId] as const;

export const registerCommands = (): Command[] => [
  listCommand(),
  showCommand(),
  createCommand(),
  updateCommand(),
  switchCommand("pause", "stop deliveries to a webhook until it is resumed; its queue is kept", false),
  switchCommand("resume", "resume deliveries to a paused or suspended webhook", true),
  deleteCommand(),
  rotateCommand(),
];

const listCommand = () =>
  withService(new Command("list").description("show the webhooks of a node"), listWebhooks);

async function listWebhooks({ client, connection }: Service): Promise<void> {
  const webhooks: Webhook[] = [];
  for await (const webhook of client.webhooks.list()) webhooks.push(webhook);
  const hasNames = webhooks.some(({ name }) => name !== undefined);
  const rows = webhooks.map((webhook) => [
    `${webhook.id}`,
    stateOf(webhook),
    eventsOf(webhook),
    webhook.target,
    ...(hasNames ? [webhook.name ?? ""] : []),
  ]);
  const lines = columns(["ID", "STATE", "EVENTS", "TARGET", ...(hasNames ? ["NAME"] : [])], rows);
  show(
    connection,
    webhooks,
    rows.length > 0
      ? lines
      : ["no webhooks registered; register one with uniknode webhooks create TARGET --event NAME"],
  );
}

const showCommand = () =>
  withService<[WebhookId]>(
    new Command("show").description("show a webhook").argument(...ID),
    async ({ client, connection }, [id]) => {
      const [{ data: webhook }, { data: summary }] = await Promise.all([
        client.webhooks.get(id),
        client.webhooks.summary(id),
      ]);
      show(connection, webhook, [...webhookLines(webhook), ...table([["last hour", lastHourOf(summary)]])]);
    },
  );

type CreateOptions = FieldOptions & { readonly ping?: boolean };

const createCommand = () =>
  withService<[string], CreateOptions>(
    addFields(
      new Command("create")
        .description("register a webhook and show its secret, which is never shown again")
        .argument("<target>", "URL that deliveries are posted to, or nats://HOST:PORT/SUBJECT"),
    ).option("--ping", "Send a ping as the first delivery."),
    (service, [target], options) => createWebhook(service, target, options),
  );

async function createWebhook(
  service: Service,
  target: string,
  { ping, ...fields }: CreateOptions,
): Promise<void> {
  if (!fields.event) {
    throw new ConfigError(
      'create: missing --event NAME, such as --event "transaction.*"; --event "*" selects all events ' +
        "(docs/reference/events.md)",
    );
  }
  const conditions = readConditions(fields.condition ?? []);
  const { data, warnings } = await service.client.webhooks.create({
    target,
    ...changesOf(fields),
    conditions,
    ...(ping && { ping }),
  });
  showSecret(service, data, warnings);
}

type UpdateOptions = FieldOptions & QueueOption & { readonly target?: string };

const updateCommand = () =>
  withService<[WebhookId], UpdateOptions>(
    addQueueFlag(
      addFields(
        new Command("update").description("change a webhook; omitted options stay unchanged").argument(...ID),
      ).option("--target <URL>", "URL or NATS subject that deliveries are sent to, including pending ones."),
    ),
    (service, [id], options) => updateWebhook(service, id, options),
  );

async function updateWebhook(
  service: Service,
  id: WebhookId,
  { target, ...fields }: UpdateOptions,
): Promise<void> {
  // A webhook can have an event beside its "events": without a name among the new ones, none may remain.
  const event = fields.event?.find((name) => !name.includes("*")) ?? null;
  const changes = {
    ...changesOf(fields),
    ...(fields.event && { event }),
    ...queueOf(fields),
    ...(target !== undefined && { target }),
  };
  if (Object.keys(changes).length === 0) {
    throw new ConfigError("update: nothing to change; give --target, --event or another option");
  }
  const { warnings } = await service.client.webhooks.update(id, changes);
  await showAfter(service, id, warnings);
}

const switchCommand = (name: string, description: string, enabled: boolean) =>
  withService<[WebhookId], QueueOption>(
    addQueueFlag(new Command(name).description(description).argument(...ID)),
    async (service, [id], options) => {
      await service.client.webhooks.update(id, { enabled, ...queueOf(options) });
      await showAfter(service, id);
    },
  );

const deleteCommand = () =>
  withService<[WebhookId]>(
    new Command("delete").description("remove a webhook and its deliveries").argument(...ID),
    async ({ client, connection }, [id]) => {
      await client.webhooks.remove(id);
      show(connection, { id, deleted: true }, [`webhook ${id} is removed`]);
    },
  );

const rotateCommand = () =>
  withService<[WebhookId], { readonly overlap?: number }>(
    new Command("rotate")
      .description(
        "replace the secret of a webhook and show the new one; the previous secret stays valid for a while",
      )
      .argument(...ID)
      .option(
        "--overlap <SECONDS>",
        "Time for which the previous secret stays valid (default: one day).",
        readCount(0),
      ),
    async (service, [id], { overlap: overlapSeconds }) => {
      const options = overlapSeconds === undefined ? {} : { overlapSeconds };
      showSecret(service, (await service.client.webhooks.rotate(id, options)).data);
    },
  );

async function showAfter(
  { client, connection }: Service,
  id: WebhookId,
  warnings: readonly string[] = [],
): Promise<void> {
  const { data: webhook } = await client.webhooks.get(id);
  show(connection, withWarnings(webhook, warnings), [...webhookLines(webhook), ...warningLines(warnings)]);
}

const withWarnings = (webhook: Webhook, warnings: readonly string[]) =>
  warnings.length > 0 ? { ...webhook, warnings } : webhook;

const warningLines = (warnings: readonly string[]) => warnings.map((warning) => `warning: ${warning}`);

const showSecret = ({ connection }: Service, webhook: WebhookWithToken, warnings: readonly string[] = []) =>
  show(connection, withWarnings(webhook, warnings), [
    ...webhookLines(webhook),
    ...table([
      ["token", webhook.token],
      ["secret", webhook.secret],
    ]),
    "token and secret are the same key in two formats; store one of them, because neither is shown again",
    ...warningLines(warnings),
  ]);

const webhookLines = (webhook: Webhook): string[] =>
  table([
    ["id", webhook.id],
    ["name", webhook.name],
    ["state", stateOf(webhook)],
    ["reason", webhook.suspended?.reason ?? webhook.failing?.reason],
    ["events", eventsOf(webhook)],
    ["target", webhook.target],
    ["conditions", conditionsText(webhook)],
    ["order", webhook.order ?? "parallel"],
    ["confirmations", webhook.confirmations],
    ["proof", webhook.proof && "in each delivery"],
    ["queued", webhook.queued],
  ]);

const stateOf = ({ enabled, suspended, failing }: Webhook): string => {
  if (!enabled) return "paused";
  if (suspended) return "suspended";
  return failing ? "failing" : "active";
};

/** Counts attempts, not deliveries: a delivery may fail several times. */
function lastHourOf({ lastHour: { succeeded, failed } }: DeliverySummary): string {
  const attempts = succeeded + failed;
  if (attempts === 0) return "no attempt";
  // It is rounded down, so that a single failure is not shown as 100 %.
  const percent = Math.floor((succeeded / attempts) * 1_000) / 10;
  return `${percent} % of ${attempts} attempts succeeded`;
}

const eventsOf = ({ event, events }: Webhook): string => [...new Set([event, ...(events ?? [])])].join(" ");

const conditionsText = ({ conditions, match }: Webhook): string =>
  isEveryEvent(conditions)
    ? "none: every event is delivered"
    : conditions.map(conditionText).join(match === "all" ? " and " : " or ");

const conditionText = ({ key, condition, value }: Webhook["conditions"][number]): string =>
  [key, condition, ...(value === undefined ? [] : [JSON.stringify(value)])].join(" ");
