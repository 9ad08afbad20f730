/** `uniknode webhooks import`: imports the register of an old node into the data folder of a stopped node. */
import { Command } from "commander";
import { runOptions } from "../../config/options.ts";
import { importOldRegister } from "../../webhooks/sqlite/import-register.ts";
import { addFlags, readConfig } from "../options.ts";
import { printLines } from "../print.ts";

const { data, webhookKeyFile, webhookOldKeyFile, webhookLimit } = runOptions;
const options = { data, webhookKeyFile, webhookOldKeyFile, webhookLimit };

export function importCommand(): Command {
  const bring = new Command("import")
    .description(
      "import the webhooks of an old node; their ids stay valid in paths, and receivers need no change",
    )
    .argument("<FILE>", "webhooks.json from the cache folder of the old node");
  return addFlags(bring, options).action((file: string) => {
    const imported = importOldRegister(file, readConfig(bring, options));
    printLines([
      ...imported.map(({ alias, webhook }) => `${webhook.id}  ${alias}  ${webhook.event}  ${webhook.target}`),
      `webhooks registered: ${imported.length}; deliveries start when the node starts`,
    ]);
  });
}
