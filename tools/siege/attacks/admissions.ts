/** Transactions that are refused and cost the most: the thread of consensus must forge all the same. */
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack.ts";
import { batches, junkSigned, manyPayments, type NextText, submissionOf } from "../junk-transactions.ts";
import { postPipelined } from "../pipelined.ts";
import { repeatPaced, send } from "../requests.ts";
import { type Accounts, openAccounts } from "../sender.ts";
import { startDevChain } from "../start-node.ts";

const PATH = "/api/v2/transactions";
/** More than the transactions of a request: no two requests in a row have the same recipients. */
const PAYMENTS = 120;

/** Payments of unknown accounts, unsigned but for an entry of a participant that is none. */
export const unsignedPayments = (accounts: Accounts): NextText[] =>
  Array.from({ length: PAYMENTS }, () => {
    const { publicKey } = accounts.unfunded();
    const body = manyPayments(accounts.network, { senderPublicKey: publicKey, nonce: 1n });
    return junkSigned(body, { participants: 1 });
  });

export const pipelinedPayments: Attack = {
  name: "pipelined payments",
  description:
    "a client with 8 connections to a dev chain: unsigned payments of unknown accounts to 128 recipients each, 40 a request",
  start: startDevChain,
  run(target, tally, signal) {
    const next = batches(unsignedPayments(openAccounts(target)));
    const pipelining = { connections: 8, depth: 25, from: "127.0.0.1", path: PATH };
    return postPipelined(target, pipelining, tally, signal, () => submissionOf(next()));
  },
};

export const manyPayers: Attack = {
  name: "payments of many clients",
  description: "the same from 45 addresses, 61 requests of each in a minute",
  async run(target, tally, signal) {
    const addresses = clientAddresses(51);
    const next = batches(unsignedPayments(openAccounts(target)));
    const sources = Array.from({ length: 45 }, () => addresses.next());
    await repeatPaced(sources, { perMinute: 61 }, signal, (from) =>
      send(target, tally, { path: PATH, from, body: submissionOf(next()) }),
    );
  },
};
