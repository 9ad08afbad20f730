/** `uniknode webhooks`: manages the webhooks of a running node, hands them over, and imports webhooks of an old one. */
import type { TriedEvent } from "@uniknode/client";
import { Command, Option } from "commander";
import { handOverOptions } from "../../config/mirror.ts";
import { runOptions } from "../../config/options.ts";
import { ConfigError } from "../../platform/coded-error.ts";
import { stopSignal } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { importOldRegister } from "../../webhooks/sqlite/import-register.ts";
import { show } from "../connection.ts";
import { addFlags, readConfig } from "../flags.ts";
import { columns, printLines } from "../print.ts";
import { deliveryCommands } from "./deliveries.ts";
import { addEventFlags, changesOf, type FieldOptions, readConditions, readCount } from "./fields.ts";
import { registerCommands } from "./register.ts";
import { withService } from "./service.ts";

export function webhooksCommand(): Command {
  const command = new Command("webhooks");
  const others = [testCommand(), importCommand(), handOverCommand()];
  for (const below of [...registerCommands(), ...deliveryCommands(), ...others]) command.addCommand(below);
  return command;
}

const { data, webhookKeyFile, webhookOldKeyFile, webhookLimit } = runOptions;
const importOptions = { data, webhookKeyFile, webhookOldKeyFile, webhookLimit };

function importCommand(): Command {
  const bring = new Command("import")
    .description(
      "import the webhooks of an old node; their ids stay valid in paths, and receivers need no change",
    )
    .argument("<FILE>", "webhooks.json from the cache folder of the old node");
  return addFlags(bring, importOptions).action((file: string) => {
    const imported = importOldRegister(file, readConfig(bring, importOptions));
    printLines([
      ...imported.map(({ alias, webhook }) => `${webhook.id}  ${alias}  ${webhook.event}  ${webhook.target}`),
      `webhooks registered: ${imported.length}; deliveries start when the node starts`,
    ]);
  });
}

const testCommand = (): Command =>
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

type HandOverFlags = { readonly to: "workers" | "node"; readonly at?: number; readonly cancel?: boolean };

const SENDS = { workers: "delivery workers send the webhooks", node: "the node sends the webhooks" } as const;

function handOverCommand(): Command {
  const command = new Command("hand-over")
    .description("let delivery workers send the webhooks instead of the node, or the node instead of them")
    .addOption(
      new Option("--to <OWNER>", "The new owner of the webhooks.")
        .choices(["workers", "node"])
        .makeOptionMandatory(),
    )
    .option(
      "--at <HEIGHT>",
      "Begin when the chain of the node has this height (default: at once).",
      readCount(1),
    )
    .option("--cancel", "Return to the former owner, while the new one does not own the webhooks.");
  return addFlags(command, handOverOptions).action(async () => {
    const { to, at, cancel = false } = command.opts<HandOverFlags>();
    const config = readConfig(command, handOverOptions);
    const stopping = new AbortController();
    void stopSignal().then(() => stopping.abort());
    // Only this subcommand loads the driver of the database.
    const { runHandOver } = await import("../../processes/hand-over.ts");
    const isChanged = await runHandOver(
      { ...config, to, at, cancel },
      {
        report: (text) => printLines([text]),
        logger: openLog("warn", "text").logger,
        signal: stopping.signal,
      },
    );
    if (cancel) printLines([`cancelled: ${SENDS[to === "node" ? "workers" : "node"]}`]);
    else printLines([isChanged ? SENDS[to] : `nothing to do: ${SENDS[to]}`]);
  });
}
