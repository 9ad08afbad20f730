/** `uniknode webhooks hand-over`: hands the webhooks over between a node and delivery workers. */
import { Command, Option } from "commander";
import { handOverOptions } from "../../config/hand-over.ts";
import { stopSignal } from "../../platform/lifecycle/signals.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { addFlags, readConfig } from "../options.ts";
import { printLines } from "../print.ts";
import { readCount } from "./fields.ts";

type Given = { readonly to: "workers" | "node"; readonly at?: number; readonly cancel?: boolean };

const SENDS = { workers: "delivery workers send the webhooks", node: "the node sends the webhooks" } as const;

export function handOverCommand(): Command {
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
    const { to, at, cancel = false } = command.opts<Given>();
    const config = readConfig(command, handOverOptions);
    const stopping = new AbortController();
    void stopSignal().then(() => stopping.abort());
    // Loads the driver of the database.
    const { runHandOver } = await import("../../processes/hand-over/hand-over.ts");
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
