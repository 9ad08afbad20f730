/** `uniknode complete`: prints values that only the node knows, for the completion scripts. */
import { Argument, Command } from "commander";
import { resolveConfig } from "../config/resolve.ts";
import { printLines } from "./print.ts";
import { connectWithToken, serviceOptions } from "./webhooks/service.ts";

/** Short, because the shell blocks until the values arrive. */
const TIMEOUT_SECONDS = 2;
const MAX_VALUES = 100;

export const completeCommand = (): Command =>
  new Command("complete")
    .addArgument(new Argument("<what>", "kind of the values").choices(["webhooks"]))
    .argument("[words...]", "command line so far; its --url, --data and --token are used")
    .action(async (_what: string, words: readonly string[]) => {
      const values = await webhookIds(words).catch(() => []);
      printLines(values);
    });

async function webhookIds(words: readonly string[]): Promise<string[]> {
  const flags = { ...flagsOf(words), timeout: TIMEOUT_SECONDS };
  const { client } = connectWithToken(resolveConfig(serviceOptions, { flags, environment: process.env }));
  const { data } = await client.webhooks.list().page({ limit: MAX_VALUES });
  return data.map(({ id }) => `${id}`);
}

/** Reads the options that locate the node. */
function flagsOf(words: readonly string[]): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const name of ["url", "data", "token"]) {
    const at = words.lastIndexOf(`--${name}`);
    const value = at < 0 ? undefined : words[at + 1];
    if (value !== undefined) flags[name] = value;
  }
  return flags;
}
