/** The most expensive refused transactions: the consensus thread must still forge. */
import { builders } from "@uniknode/protocol";
import { present } from "../../../packages/node/src/platform/present.ts";
import type { Attack } from "../attack-definition.ts";
import { batches, junkSigned, manyPayments, type NextText, submissionOf } from "../junk-transactions.ts";
import { PARTICIPANTS, registerWallet, walletKey } from "../multisignature-wallet.ts";
import { missingForIpv6 } from "../own-network.ts";
import { postPipelined } from "../pipelined.ts";
import { repeatPaced, send } from "../requests.ts";
import { type Accounts, openAccounts } from "../sender.ts";
import { startDevChain, startForging } from "../start-node.ts";
import { submissions } from "../submissions.ts";
import type { Target } from "../target.ts";

const PATH = "/api/v2/transactions";
/** More than the transactions of a request, so that consecutive requests have different recipients. */
const PAYMENTS = 120;
/** The attack must cover several slots of 8 s. */
const IPV6_MS = 48_000;
const IPV6_NODE = "2001:db8:ffff::1";

/** Payments of unknown accounts, without a signature except an entry of a wrong participant. */
export const unsignedPayments = (accounts: Accounts): NextText[] =>
  Array.from({ length: PAYMENTS }, () => {
    const { publicKey } = accounts.unfunded();
    const body = manyPayments(accounts.network, { senderPublicKey: publicKey, nonce: 1n });
    return junkSigned(body, { participants: 1 });
  });

/** Transfers of the multisignature wallet with as many signatures as it has keys. */
export function walletTransfers(accounts: Accounts): NextText[] {
  const { network, funded } = accounts;
  const senderPublicKey = walletKey(accounts);
  const envelope = { network, senderPublicKey, nonce: 1n, recipientId: funded.address };
  return [junkSigned(builders.transfer({ ...envelope, amount: 1n }), { participants: PARTICIPANTS })];
}

/** Alternates between both. */
export function mixedBatches(target: Target): () => string[] {
  const [payments, transfers] = [unsignedPayments, walletTransfers].map((texts) =>
    batches(texts(openAccounts(target))),
  );
  let count = 0;
  return () => (count++ % 2 === 0 ? present(payments) : present(transfers))();
}

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

export const unsignedFlood: Attack = {
  name: "unsigned payments",
  description: "the same from 45 addresses, 61 requests of each in a minute",
  run: submissions({ network: 51, addresses: 45, perMinute: 61 }, unsignedPayments),
};

export const multisignatureFlood: Attack = {
  name: "junk multisignatures",
  description: "transfers of a multisignature wallet with 16 wrong signatures, 47 requests of 11 addresses",
  prepare: registerWallet,
  run: submissions({ network: 52, addresses: 11, perMinute: 47 }, walletTransfers),
};

export const ipv6Flood: Attack = {
  name: "IPv6 transactions",
  description:
    "unsigned payments and invalid multisignatures from one /48 at its rate limit, with slots of 8 s",
  start: () => startForging({ blocktime: 8, httpHost: "::" }),
  missingRequirement: missingForIpv6,
  prepare: registerWallet,
  minMs: IPV6_MS,
  async run(target, tally, signal) {
    const next = mixedBatches(target);
    const sources = Array.from({ length: 16 }, (_, index) => `2001:db8:7:${(index + 1).toString(16)}::1`);
    await repeatPaced(sources, { perMinute: 61 }, signal, (from) =>
      send({ ...target, host: IPV6_NODE }, tally, { path: PATH, from, body: submissionOf(next()) }),
    );
  },
};
