/** Requests of many clients that submit as many transactions as a request may have. */
import { clientAddresses } from "./addresses.ts";
import type { Attack } from "./attack-definition.ts";
import { batches, type NextText, submissionOf } from "./junk-transactions.ts";
import { repeatPaced, send } from "./requests.ts";
import { type Accounts, openAccounts } from "./sender.ts";

export type Clients = { readonly network: number; readonly addresses: number; readonly perMinute: number };

/** Submits the transactions from this many addresses. */
export const submissions =
  (
    { network, addresses, perMinute }: Clients,
    texts: (accounts: Accounts) => NextText[] | Promise<NextText[]>,
  ): Attack["run"] =>
  async (target, tally, signal) => {
    const next = batches(await texts(openAccounts(target)));
    const { next: nextAddress } = clientAddresses(network);
    const sources = Array.from({ length: addresses }, nextAddress);
    await repeatPaced(sources, { perMinute }, signal, (from) =>
      send(target, tally, { path: "/api/v2/transactions", from, body: submissionOf(next()) }),
    );
  };
