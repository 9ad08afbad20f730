/** The webhook token that a node on this machine keeps in its data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { option, readToken } from "../../config/option.ts";
import { devOptions, nodeOptions, runOptions } from "../../config/options.ts";
import type { Config } from "../../config/resolve.ts";
import { ConfigError } from "../../platform/config-error.ts";
import type { Database } from "../../store/engine/database.ts";
import { openReader } from "../../store/engine/migrations.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { type KeyFiles, readSecretKey } from "../../webhooks/sqlite/secrets/encrypt-secrets.ts";
import { createSecretCipher } from "../../webhooks/sqlite/secrets/encryption.ts";
import { keptWebhookToken } from "../../webhooks/sqlite/secrets/token.ts";

const { webhookKeyFile, webhookOldKeyFile } = nodeOptions;

export const localTokenOptions = {
  data: {
    ...nodeOptions.data,
    sentence: `Data folder of the node; the dev chain of ${devOptions.data.default} or the node of ${runOptions.data.default} when not given.`,
  },
  webhookKeyFile,
  webhookOldKeyFile,
};

export const tokenOptions = {
  token: option({
    name: "token",
    placeholder: "TOKEN",
    sentence:
      "Webhook token of the node; the one in the data folder when not given, for a node on this machine.",
    variable: "UNIKNODE_WEBHOOK_TOKEN",
    secret: true,
    read: readToken,
  }),
  ...localTokenOptions,
};

/**
 * The token that is given, or else that of the node on this machine.
 *
 * @throws {ConfigError} when there is none
 */
export const tokenOf = (config: Config<typeof tokenOptions> & { readonly url: string }): string =>
  config.token ?? tokenOfMachine(config);

function tokenOfMachine(config: { readonly url: string } & Config<typeof localTokenOptions>): string {
  const { hostname } = new URL(config.url);
  if (config.data === undefined && !/^(localhost|127\..*|\[::1\])$/.test(hostname)) {
    throw new ConfigError(
      `the node at ${config.url} is on another machine: give its webhook token with --token or UNIKNODE_WEBHOOK_TOKEN; ` +
        '"uniknode token" shows it there',
    );
  }
  try {
    return readLocalToken(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      `no webhook token: ${error.message}, or the token with --token or UNIKNODE_WEBHOOK_TOKEN`,
    );
  }
}

/**
 * The token in a data folder; without one, in the first folder that a start without `--data` may have made.
 *
 * @throws {ConfigError} when there is none
 */
export const readLocalToken = ({
  data = presentFolder(),
  ...keyFiles
}: { readonly data?: string | undefined } & KeyFiles): string => tokenIn(data, keyFiles);

function presentFolder(): string {
  const folders = [devOptions, runOptions].map(({ data }) => data.default);
  const found = folders.find((folder) => existsSync(databaseIn(folder)));
  if (found !== undefined) return found;
  throw new ConfigError(
    `no node was started here: neither ${folders.join(" nor ")} has a database; give its data folder with --data`,
  );
}

const databaseIn = (folder: string): string => join(folder, "node.sqlite");

function tokenIn(folder: string, keyFiles: KeyFiles): string {
  const path = databaseIn(folder);
  if (!existsSync(path)) {
    throw new ConfigError(
      `${folder} is no data folder of a node: ${path} is missing; give another with --data`,
    );
  }
  const token = keptToken(openReader(path), keyFiles);
  if (token !== undefined) return token;
  throw new ConfigError(
    `${folder} has no webhook token: the node was always started with one of its own (--webhook-token)`,
  );
}

function keptToken(database: Database, keyFiles: KeyFiles): string | undefined {
  try {
    const cipher = createSecretCipher(readSecretKey(database, keyFiles));
    return keptWebhookToken(createMetaStore(database), cipher);
  } finally {
    database.close();
  }
}
