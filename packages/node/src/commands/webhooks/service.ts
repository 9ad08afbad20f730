/** The webhook register of a running node, for commands. */
import type { Client, WebhookId } from "@uniknode/client";
import { createClient } from "@uniknode/client";
import { type Command, InvalidArgumentError } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import type { Config } from "../../config/resolve.ts";
import { tokenOf, tokenOptions } from "../access/local-token.ts";
import type { Connection } from "../connection.ts";
import { addFlags, readConfig } from "../options.ts";

export const serviceOptions = {
  ...connectionOptions,
  ...tokenOptions,
};

/** What a command of the register gets. */
export type Service = { readonly client: Client; readonly connection: Connection };

/**
 * A client with the token of the node.
 *
 * @throws {ConfigError} when no token is given or found
 */
export function connectWithToken(config: Config<typeof serviceOptions>): Service {
  const { url, timeout } = config;
  const webhookToken = tokenOf(config);
  return { client: createClient({ url, timeoutMs: timeout * 1_000, webhookToken }), connection: config };
}

/** Adds the options of the connection, and runs the work with a client, the arguments and the other options. */
export const withService = <Arguments extends readonly unknown[], Options extends object = object>(
  command: Command,
  run: (service: Service, args: Arguments, options: Options) => Promise<void>,
): Command =>
  addFlags(command, serviceOptions).action(async () => {
    const service = connectWithToken(readConfig(command, serviceOptions));
    await run(service, command.processedArgs as unknown as Arguments, command.opts<Options>());
  });

export const WEBHOOK_ID =
  'number of the webhook, as "uniknode webhooks list" shows it, or the id (UUID) that an imported one had before';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The id of a webhook on the command line: its number, or that of an old node. */
export function readId(text: string): WebhookId {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (UUID.test(text)) return text;
  throw new InvalidArgumentError(
    'The id of a webhook is a number, or a UUID where it was imported; "uniknode webhooks list" shows the numbers.',
  );
}
