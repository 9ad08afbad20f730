/** `uniknode accounts`: shows the accounts of a dev chain. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { devOptions } from "../config/options.ts";
import { isDevFolder, readShape } from "../dev-chain/folder.ts";
import { deriveAccounts } from "../dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION } from "../dev-chain/network.ts";
import { accountsText, showAccounts } from "../dev-chain/screen.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { openReader } from "../store/engine/migrations.ts";
import { withOptions } from "./flags.ts";
import { printLines, printText } from "./print.ts";

const options = { data: devOptions.data, json: connectionOptions.json };

export function accountsCommand(): Command {
  return withOptions(new Command("accounts"), options, ({ data, json }) => {
    const folder = resolve(data);
    if (!isDevFolder(folder)) {
      throw new ConfigError(
        `${folder} does not contain a dev chain: start one with "uniknode dev", ` +
          "or give its folder with --data",
      );
    }
    const { mnemonic, accounts } = readShape(folder);
    const cast = castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
    const path = join(folder, "node.sqlite");
    const shown = withBalances(path, (balanceOf) => showAccounts({ cast, mnemonic, balanceOf }));
    if (json) printText(JSON.stringify(shown, null, 2));
    else printLines(accountsText(shown));
  });
}

type BalanceOf = (address: string) => bigint | undefined;

/** Runs work with the balances at the head; unknown until the database exists. */
function withBalances<T>(path: string, work: (balanceOf: BalanceOf) => T): T {
  if (!existsSync(path)) return work(() => undefined);
  const database = openReader(path, { acceptsOlder: true });
  try {
    // Reads what all schemas have: the chain of an earlier version has accounts, too.
    const select = database.prepare<{ balance: bigint }>("SELECT balance FROM wallets WHERE address = ?", {
      bigints: true,
    });
    return work((address) => select.get(address)?.balance);
  } finally {
    database.close();
  }
}
