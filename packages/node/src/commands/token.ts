/** `uniknode token`: the webhook token of a data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { devOptions, nodeOptions, runOptions } from "../config/options.ts";
import { ConfigError } from "../platform/config-error.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { type KeyFiles, readSecretKey } from "../webhooks/sqlite/secrets/encrypt-secrets.ts";
import { createSecretCipher } from "../webhooks/sqlite/secrets/encryption.ts";
import { keptWebhookToken } from "../webhooks/sqlite/secrets/token.ts";
import { addFlags, readConfig } from "./options.ts";

const { webhookToken, webhookKeyFile, webhookOldKeyFile } = nodeOptions;
const options = {
  data: {
    ...nodeOptions.data,
    sentence: `Data folder of the node; the dev chain of ${devOptions.data.default} or the node of ${runOptions.data.default} when not given.`,
  },
  webhookToken,
  webhookKeyFile,
  webhookOldKeyFile,
};

export function tokenCommand(): Command {
  const command = new Command("token").description(
    "show the webhook token that a node generated on its first start; the node may keep running",
  );
  return addFlags(command, options).action(() => {
    const config = readConfig(command, options);
    const token = config.webhookToken ?? readToken(config.data ?? presentFolder(), config);
    process.stdout.write(`${token}\n`);
  });
}

/** The first folder that a start without `--data` may have made. */
function presentFolder(): string {
  const folders = [devOptions, runOptions].map(({ data }) => data.default);
  const found = folders.find((folder) => existsSync(databaseIn(folder)));
  if (found !== undefined) return found;
  throw new ConfigError(
    `no node was started here: neither ${folders.join(" nor ")} has a database; give its data folder with --data`,
  );
}

const databaseIn = (folder: string): string => join(folder, "node.sqlite");

function readToken(folder: string, keyFiles: KeyFiles): string {
  const path = databaseIn(folder);
  if (!existsSync(path)) {
    throw new ConfigError(
      `${folder} is no data folder of a node: ${path} is missing; give another with --data`,
    );
  }
  const token = keptToken(openDatabase(path, { readonly: true }), keyFiles);
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
