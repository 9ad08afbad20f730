/** Values of a running dev chain that replace the placeholders of a page. */
import { hash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Terminal } from "./terminal.ts";

type Account = {
  readonly address: string;
  readonly passphrase: string;
  readonly unik: { readonly id: string };
};
type Accounts = {
  readonly accounts: readonly [Account, Account];
  readonly delegates: readonly [Account];
  readonly factory: Account;
};
/** Token and accounts of a dev chain, which do not change. */
type Keys = Accounts & { readonly token: string };

/** Queries the keys of the chain as a reader does. */
export async function readKeys({ ask }: Terminal): Promise<Keys> {
  const token = (await ask("npm start -- token")).trim();
  return { token, ...(JSON.parse(await ask("npm start -- accounts --json")) as Accounts) };
}

/**
 * Queries the chain as a reader does. The passphrase of the first account is in the environment of all later
 * commands.
 * @param keys of the chain, if they were queried before
 */
export async function learnFromChain(terminal: Terminal, keys?: Keys): Promise<void> {
  const { folder, values, environment, ask } = terminal;
  const { token, accounts, delegates, factory } = keys ?? (await readKeys(terminal));
  values.TOKEN = token;
  const [alice, bob] = accounts;
  environment.UNIKNODE_PASSPHRASE = alice.passphrase;
  environment.UNIKNODE_FACTORY_PASSPHRASE = factory.passphrase;
  const list = await ask("curl http://127.0.0.1:4003/api/v2/transactions?limit=1");
  values.ID = (JSON.parse(list) as { data: [{ id: string }] }).data[0].id;
  const secret = randomBytes(32);
  const passphraseFile = join(folder, "passphrase");
  writeFileSync(passphraseFile, `${alice.passphrase}\n`);
  Object.assign(values, {
    ADDRESS: bob.address,
    PASSPHRASE: alice.passphrase,
    UNIK: alice.unik.id,
    DELEGATE: delegates[0].unik.id,
    FACTORY: factory.unik.id,
    NEWUNIK: randomBytes(32).toString("hex"),
    CERTIFIEDUNIK: randomBytes(32).toString("hex"),
    SECRETHASH: hash("sha256", secret),
    HEIGHT: "1000",
    NAME: "example",
    FILE: passphraseFile,
    DIR: ".uniknode/dev",
  });
  // Ids of locks; the id of a webhook is in the response that shows it.
  values.SECRET ??= secret.toString("hex");
}
