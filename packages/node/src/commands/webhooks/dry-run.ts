/** `uniknode webhooks test`: shows which past events a webhook would have received. */
import type { TriedEvent } from "@uniknode/client";
import { Command } from "commander";
import { ConfigError } from "../../platform/config-error.ts";
import { columns } from "../columns.ts";
import { show } from "../connection.ts";
import { readConditions } from "../listen/condition.ts";
import { addEventFlags, changesOf, type FieldOptions, readCount } from "./fields.ts";
import { withService } from "./service.ts";

export const testCommand = (): Command =>
  withService<[], FieldOptions & { readonly blocks?: number }>(
    addEventFlags(
      new Command("test").description(
        "show which events of past blocks a webhook would have received, without registering it",
      ),
    ).option("--blocks <N>", "Number of latest blocks to test.", readCount(1)),
    async ({ client, connection }, _arguments, { blocks, ...fields }) => {
      if (!fields.event)
        throw new ConfigError('test: --event NAME is missing, such as --event "transaction.*"');
      const { data } = await client.webhooks.test({
        ...changesOf(fields),
        conditions: readConditions(fields.condition ?? []),
        ...(blocks !== undefined && { blocks }),
      });
      const { fired, notFired, notRemembered, fromHeight, toHeight } = data;
      const rows = [...fired.events.map(rowOf("yes")), ...notFired.events.map(rowOf("no"))];
      show(connection, data, [
        `blocks ${fromHeight} to ${toHeight}: ${fired.count} events would be delivered, ${notFired.count} not`,
        ...(rows.length > 0 ? columns(["DELIVERED", "EVENT", "HEIGHT", "DATA"], rows) : []),
        ...(notRemembered.length > 0 ? [`not derivable from past blocks: ${notRemembered.join(" ")}`] : []),
      ]);
    },
  );

const MAX_DATA_LENGTH = 200;

const rowOf =
  (delivered: string) =>
  ({ event, height, data }: TriedEvent): string[] => [
    delivered,
    event,
    `${height ?? ""}`,
    (JSON.stringify(data) ?? "").slice(0, MAX_DATA_LENGTH),
  ];
