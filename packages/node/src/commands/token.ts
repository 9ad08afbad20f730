/**
 * `uniknode token`: prints the webhook token in the data folder of a node on this machine. Other commands use it if no token is
 * given.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { optionTable, readToken } from "../config/define-option.ts";
import { devOptions, nodeOptions, runOptions } from "../config/options.ts";
import { type Config, resolveOrigins } from "../config/resolve.ts";
import { ConfigError } from "../platform/coded-error.ts";
import type { Database } from "../store/engine/database.ts";
import { openReader } from "../store/engine/migrations.ts";
import { MetaStore } from "../store/node/meta.ts";
import { SecretCipher } from "../webhooks/secrets.ts";
import { type KeyFiles, keptWebhookToken, readSecretKey } from "../webhooks/sqlite/secrets.ts";
import { sourcesOf, withOptions } from "./flags.ts";

const { webhookKeyFile, webhookOldKeyFile } = nodeOptions;

const localTokenOptions = {
  data: {
    ...nodeOptions.data,
    sentence: `Data folder of the node; if not given, ${devOptions.data.default} (dev chain) or ${runOptions.data.default}.`,
  },
  webhookKeyFile,
  webhookOldKeyFile,
};

const options = { ...localTokenOptions, webhookToken: nodeOptions.webhookToken };

export function tokenCommand(): Command {
  const command = new Command("token");
  return withOptions(command, options, (config) => {
    const { data, webhookToken } = resolveOrigins(options, sourcesOf(command));
    // A flag takes precedence over the environment.
    const isOfFolder = data.origin === "argument" && webhookToken.origin !== "argument";
    const given = isOfFolder ? undefined : config.webhookToken;
    process.stdout.write(`${given ?? readLocalToken(config)}\n`);
  });
}

export const tokenOptions = optionTable({
  token: {
    placeholder: "TOKEN",
    sentence:
      "Webhook token of the node; if not given, the token in the data folder of a node on this machine.",
    variable: "UNIKNODE_WEBHOOK_TOKEN",
    secret: true,
    read: readToken,
  },
  ...localTokenOptions,
});

/**
 * Returns the given token, or else the token of the node on this machine.
 *
 * @throws {ConfigError} if there is none
 */
export const tokenOf = (config: Config<typeof tokenOptions> & { readonly url: string }): string =>
  config.token ?? tokenOfMachine(config);

function tokenOfMachine(config: { readonly url: string } & Config<typeof localTokenOptions>): string {
  const { hostname } = new URL(config.url);
  if (config.data === undefined && !/^(localhost|127\..*|\[::1\])$/.test(hostname)) {
    throw new ConfigError(
      `the node at ${config.url} is on another machine: give its webhook token with --token or UNIKNODE_WEBHOOK_TOKEN; ` +
        '"uniknode token" prints it there',
    );
  }
  try {
    return readLocalToken(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      `no webhook token: ${error.message}, or give the token with --token or UNIKNODE_WEBHOOK_TOKEN`,
    );
  }
}

/**
 * Returns the token in a data folder; by default, in the first existing default folder of `dev` and `run`.
 *
 * @throws {ConfigError} if there is none
 */
const readLocalToken = ({
  data = presentFolder(),
  ...keyFiles
}: { readonly data?: string | undefined } & KeyFiles): string => tokenIn(data, keyFiles);

function presentFolder(): string {
  const folders = [devOptions, runOptions].map(({ data }) => data.default);
  const found = folders.find((folder) => existsSync(databaseIn(folder)));
  if (found !== undefined) return found;
  throw new ConfigError(
    `no node found: neither ${folders.join(" nor ")} has a database; give the data folder with --data`,
  );
}

const databaseIn = (folder: string): string => join(folder, "node.sqlite");

function tokenIn(folder: string, keyFiles: KeyFiles): string {
  const path = databaseIn(folder);
  if (!existsSync(path)) {
    throw new ConfigError(
      `${folder} is not the data folder of a node: ${path} is missing; give another folder with --data`,
    );
  }
  const token = keptToken(openReader(path, { acceptsOlder: true }), keyFiles);
  if (token !== undefined) return token;
  throw new ConfigError(`${folder} has no webhook token: the node was always started with --webhook-token`);
}

function keptToken(database: Database, keyFiles: KeyFiles): string | undefined {
  try {
    const cipher = new SecretCipher(readSecretKey(database, keyFiles));
    return keptWebhookToken(new MetaStore(database), cipher);
  } finally {
    database.close();
  }
}
