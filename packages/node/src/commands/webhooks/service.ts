/** Access of commands to the webhook register of a running node. */
import { type Client, createClient, type WebhookId } from "@uniknode/client";
import { type Command, InvalidArgumentError } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import type { Config } from "../../config/resolve.ts";
import type { Connection } from "../connection.ts";
import { addFlags, readConfig } from "../flags.ts";
import { tokenOf, tokenOptions } from "../token.ts";

export const serviceOptions = {
  ...connectionOptions,
  ...tokenOptions,
};

/** Client and connection for a command of the register. */
export type Service = { readonly client: Client; readonly connection: Connection };

/**
 * Creates a client with the token of the node.
 *
 * @param signal aborts its requests
 * @throws {ConfigError} if no token is given or found
 */
export function connectWithToken(config: Config<typeof serviceOptions>, signal?: AbortSignal): Service {
  const { url, timeout } = config;
  const options = {
    url,
    timeoutMs: timeout * 1_000,
    webhookToken: tokenOf(config),
    ...(signal && { signal }),
  };
  return { client: createClient(options), connection: config };
}

/** Adds the connection options, and runs the command with a client, its arguments and its other options. */
export const withService = <Arguments extends readonly unknown[], Options extends object = object>(
  command: Command,
  run: (service: Service, args: Arguments, options: Options) => Promise<void>,
): Command =>
  addFlags(command, serviceOptions).action(async () => {
    const service = connectWithToken(readConfig(command, serviceOptions));
    await run(service, command.processedArgs as unknown as Arguments, command.opts<Options>());
  });

export const WEBHOOK_ID =
  'id of the webhook, as "uniknode webhooks list" shows it, or the UUID of an imported webhook';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Parses the id of a webhook: its number, or its UUID on an old node. */
export function readId(text: string): WebhookId {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (UUID.test(text)) return text;
  throw new InvalidArgumentError(
    'A webhook id is expected: a number, or the UUID of an imported webhook; "uniknode webhooks list" shows the ids.',
  );
}
