/** `uniknode webhooks`: the register of a node that does not run. */
import { Command } from "commander";
import { runOptions } from "../config/options.ts";
import { importOldRegister } from "../webhooks/register/import.ts";
import { addFlags, configOf } from "./options.ts";

const { data, webhookKeyFile, webhookOldKeyFile, webhookLimit } = runOptions;
const options = { data, webhookKeyFile, webhookOldKeyFile, webhookLimit };

export function webhooksCommand(): Command {
  const command = new Command("webhooks").description("manage the webhook register of a data folder");
  const bring = command
    .command("import")
    .description(
      "register the webhooks of an old node; their ids stay valid in paths, receivers see no difference",
    )
    .argument("<FILE>", "webhooks.json of its cache folder");
  addFlags(bring, options).action((file: string) => {
    const { webhookLimit: maxWebhooks, ...config } = configOf(bring, options);
    const imported = importOldRegister(file, { ...config, maxWebhooks });
    for (const { alias, webhook } of imported)
      say(`${webhook.id}  ${alias}  ${webhook.event}  ${webhook.target}`);
    say(`webhooks registered: ${imported.length}; they see what happens from the next start of the node on`);
  });
  return command;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);
