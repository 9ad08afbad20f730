/** The most expensive refused transactions: the consensus thread must still forge. */
import { builders, signTransaction } from "@uniknode/protocol";
import type { Attack, Attacker } from "../attacker.ts";
import { startForging } from "../node.ts";
import { inTurn } from "../requests.ts";
import {
  type Accounts,
  batches,
  junkEntries,
  junkSigned,
  manyPayments,
  type NextText,
  openAccounts,
  PARTICIPANTS,
  randomHex,
  registerWallet,
  submission,
  textOf,
  walletKey,
} from "../transactions.ts";

/** More than the transactions of a request, so that consecutive requests have different recipients and contents. */
const CONTENTS = 120;
/** Properties with the longest names and values; 40 such transactions reach the maximum size of a body. */
const PROPERTIES = 45;
const MAX_LENGTH = 255;

const contents = (make: () => NextText): NextText[] => Array.from({ length: CONTENTS }, make);

/** Payments of unknown accounts, without a signature except an entry of a wrong participant. */
const unsignedPayments = (accounts: Accounts): NextText[] =>
  contents(() => {
    const sender = { senderPublicKey: accounts.unfunded().publicKey, nonce: 1n };
    return junkSigned(manyPayments(accounts.network, sender), { participants: 1 });
  });

/** Transfers of the multisignature wallet with as many signatures as it has keys. */
function walletTransfers(accounts: Accounts): NextText[] {
  const { network, funded } = accounts;
  const senderPublicKey = walletKey(accounts);
  const body = { network, senderPublicKey, nonce: 1n, recipientId: funded.address, amount: 1n };
  return [junkSigned(builders.transfer(body), { participants: PARTICIPANTS })];
}

/** Payments with the key of a funded account: only the signature is wrong. */
async function foreignPayments(accounts: Accounts): Promise<NextText[]> {
  const nonce = (await accounts.nonce()) + 1n;
  const sender = { senderPublicKey: accounts.funded.publicKey, nonce };
  return contents(() => junkSigned(manyPayments(accounts.network, sender), { isSigned: true }));
}

/** Registrations of multisignature wallets with a valid signature of the sender and none of the participants. */
function registrations(accounts: Accounts): NextText[] {
  const { network } = accounts;
  const publicKeys = Array.from({ length: PARTICIPANTS }, () => accounts.unfunded().publicKey);
  return contents(() => {
    const { publicKey, keys } = accounts.unfunded();
    const envelope = { network, senderPublicKey: publicKey, nonce: 1n };
    const body = builders.multiSignature({ ...envelope, min: 1, publicKeys });
    return () => textOf(signTransaction({ ...body, signatures: junkEntries(PARTICIPANTS) }, keys));
  });
}

/** Large mints of unfunded accounts with wrong ids, which are cheap to vary. */
function largeMints(accounts: Accounts): NextText[] {
  const { network } = accounts;
  const longText = () => randomHex(MAX_LENGTH).slice(0, MAX_LENGTH);
  return contents(() => {
    const { publicKey, keys } = accounts.unfunded();
    const properties = Object.fromEntries(Array.from({ length: PROPERTIES }, () => [longText(), longText()]));
    const envelope = { network, senderPublicKey: publicKey, nonce: 1n };
    const body = builders.nftMint({ ...envelope, tokenId: randomHex(32), properties });
    const { id, ...rest } = signTransaction(body, keys);
    const text = textOf({ ...rest, id });
    return () => text.replace(id, randomHex(32));
  });
}

/** Submits as many transactions as a request may have, from some addresses. */
const flood =
  (
    texts: (accounts: Accounts) => NextText[] | Promise<NextText[]>,
    { addresses, perMinute }: { readonly addresses: number; readonly perMinute: number },
  ): Attack["run"] =>
  async (attacker) => {
    const next = batches(await texts(openAccounts(attacker)));
    await attacker.repeatPaced(attacker.nextAddresses(addresses), perMinute, (from) =>
      attacker.send({ ...submission(next()), from }),
    );
  };

const CLIENT_CONNECTIONS = 8;
/** Requests of one connection without a response. */
const DEPTH = 25;
const STATUS = /HTTP\/1\.1 (\d{3})/;

/** Batches of unsigned payments, and of transfers of the multisignature wallet. */
export function mixedBatches(attacker: Attacker): () => string[] {
  const both = [unsignedPayments, walletTransfers].map((texts) => batches(texts(openAccounts(attacker))));
  const next = inTurn(both);
  return () => next()();
}

export const JUNK: readonly Attack[] = [
  {
    name: "unsigned payments",
    description:
      "unsigned payments of unknown accounts to 128 recipients each, from 45 addresses, 61 requests of each in a minute",
    run: flood(unsignedPayments, { addresses: 45, perMinute: 61 }),
  },
  {
    name: "junk multisignatures",
    description: "transfers of a multisignature wallet with 16 wrong signatures, 47 requests of 11 addresses",
    prepare: registerWallet,
    run: flood(walletTransfers, { addresses: 11, perMinute: 47 }),
  },
  {
    name: "payments of another",
    description: "multi-payments of a funded account to 128 recipients, with wrong signatures",
    run: flood(foreignPayments, { addresses: 45, perMinute: 61 }),
  },
  {
    name: "junk registrations",
    description:
      "registrations of multisignature wallets with the right signature of the sender and 16 wrong ones",
    run: flood(registrations, { addresses: 11, perMinute: 47 }),
  },
  {
    name: "large mints",
    description:
      "well signed mints of accounts without coins, with as many long properties as a request can carry",
    run: flood(largeMints, { addresses: 45, perMinute: 61 }),
  },
  {
    name: "pipelined payments",
    description:
      "a client with 8 connections to a dev chain: unsigned payments of unknown accounts to 128 recipients each, 40 a request",
    start: () => startForging({ isDevChain: true }),
    async run(attacker) {
      const next = batches(unsignedPayments(openAccounts(attacker)));
      const open = () => {
        const socket = attacker.open("", { from: "127.0.0.1" });
        const post = () => {
          const { path, body } = submission(next());
          const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
          attacker.offered();
          socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\n\r\n${body}`);
        };
        let unread = "";
        socket.setEncoding("latin1").on("data", (part: string) => {
          unread += part;
          for (let status = STATUS.exec(unread); status; status = STATUS.exec(unread)) {
            unread = unread.slice(status.index + status[0].length);
            if (Number(status[1]) >= 400) attacker.refused();
            post();
          }
        });
        for (let index = 0; index < DEPTH; index++) post();
      };
      // Creating the bodies of one connection costs time.
      await attacker.keepOpen(CLIENT_CONNECTIONS, open, { atMost: 1 });
    },
  },
];
