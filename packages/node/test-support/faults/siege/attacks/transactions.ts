/** Useless transactions with valid signatures, pages of pending ones, and the most expensive refused ones. */
import { builders } from "@uniknode/protocol";
import type { Attack, Attacker } from "../attacker.ts";
import { startForging } from "../node.ts";
import { inTurn } from "../requests.ts";
import {
  Accounts,
  fullSubmission,
  junkEntries,
  junkSigned,
  manyPayments,
  type NextText,
  PARTICIPANTS,
  randomHex,
  registerWallet,
  signedText,
  TRANSACTIONS_PER_REQUEST,
  walletOf,
} from "../transactions.ts";

const FEE = 10_000_000n;
const READERS = 45;
const PAGES_PER_MINUTE = 95;
/** Blocks include pending transactions. */
const FILL_EVERY_MS = 1_000;
const PAGE = "/api/v2/transactions/unconfirmed?limit=100";

/** Submits signed transfers by their numbers; `nonce` is the first free one of the funded account. */
const transfers = (transfer: (accounts: Accounts, nonce: bigint, number: number) => string): Attack => ({
  async run(attacker) {
    const accounts = new Accounts(attacker);
    const nonce = (await accounts.nonce()) + 1n;
    let number = 0;
    await attacker.repeat({ atOnce: 2, pauseMs: 50 }, () =>
      attacker.send(fullSubmission(() => transfer(accounts, nonce, number++))),
    );
  },
});

export const POOL: Readonly<Record<string, Attack>> = {
  "unfunded transactions": transfers((accounts, _nonce, number) => {
    const request = Math.floor(number / TRANSACTIONS_PER_REQUEST);
    return accounts.transfer(accounts.unfunded(), BigInt(1 + (request % 5)));
  }),
  "nonce gaps": transfers((accounts, nonce, number) =>
    accounts.transfer(accounts.funded, nonce + BigInt(1_000 + number)),
  ),
  /** The same few nonces of a funded account again and again, with higher fees. */
  "replaced transactions": transfers((accounts, nonce, number) =>
    accounts.transfer(accounts.funded, nonce + BigInt(number % 4), { fee: FEE + BigInt(number) }),
  ),
  /** Pages of 100 valid transactions with 128 payments each, read from 45 addresses. */
  "pending pages": {
    async run(attacker) {
      const accounts = new Accounts(attacker);
      const { funded } = accounts;
      const from = attacker.nextAddress();
      let nonce = await accounts.nonce();
      // One recipient, so that blocks change few rows.
      const payment = () =>
        signedText(manyPayments(accounts.envelope(funded, ++nonce), funded.address), funded);
      const filling = attacker.repeat({ pauseMs: FILL_EVERY_MS }, () =>
        attacker.send({ ...fullSubmission(payment), from }),
      );
      await Promise.all([
        filling,
        attacker.read([PAGE, `${PAGE}&transform=false`], READERS, PAGES_PER_MINUTE),
      ]);
    },
  },
};

/** More than the transactions of a request, so that consecutive requests have different recipients and contents. */
const CONTENTS = 120;
/** Properties with the longest names and values; 40 such transactions reach the maximum size of a body. */
const PROPERTIES = 45;
const MAX_LENGTH = 255;

function contents(make: () => NextText): NextText {
  const next = inTurn(Array.from({ length: CONTENTS }, make));
  return () => next()();
}

/** Payments of unknown accounts, without a signature except an entry of a wrong participant. */
const unsignedPayments = (accounts: Accounts): NextText =>
  contents(() => junkSigned(manyPayments(accounts.envelope(accounts.unfunded())), { participants: 1 }));

/** Transfers of the multisignature wallet with as many signatures as it has keys. */
function walletTransfers(accounts: Accounts): NextText {
  const envelope = accounts.envelope(walletOf(accounts));
  const body = { ...envelope, recipientId: accounts.funded.address, amount: 1n };
  return junkSigned(builders.transfer(body), { participants: PARTICIPANTS });
}

/** Payments with the key of a funded account: only the signature is wrong. */
async function foreignPayments(accounts: Accounts): Promise<NextText> {
  const envelope = accounts.envelope(accounts.funded, (await accounts.nonce()) + 1n);
  return contents(() => junkSigned(manyPayments(envelope), { isSigned: true }));
}

/** Registrations of multisignature wallets with a valid signature of the sender and none of the participants. */
function registrations(accounts: Accounts): NextText {
  const publicKeys = Array.from({ length: PARTICIPANTS }, () => accounts.unfunded().publicKey);
  return contents(() => {
    const sender = accounts.unfunded();
    const body = builders.multiSignature({ ...accounts.envelope(sender), min: 1, publicKeys });
    return () => signedText({ ...body, signatures: junkEntries(PARTICIPANTS) }, sender);
  });
}

/** Large mints of unfunded accounts with wrong ids, which are cheap to vary. */
function largeMints(accounts: Accounts): NextText {
  const longText = () => randomHex(MAX_LENGTH).slice(0, MAX_LENGTH);
  return contents(() => {
    const sender = accounts.unfunded();
    const properties = Object.fromEntries(Array.from({ length: PROPERTIES }, () => [longText(), longText()]));
    const body = builders.nftMint({ ...accounts.envelope(sender), tokenId: randomHex(32), properties });
    const text = signedText(body, sender);
    const { id } = JSON.parse(text) as { readonly id: string };
    return () => text.replace(id, randomHex(32));
  });
}

type Texts = (accounts: Accounts) => NextText | Promise<NextText>;

const flood = (addresses: number, perMinute: number, texts: Texts): Attack => ({
  async run(attacker) {
    const next = await texts(new Accounts(attacker));
    await attacker.repeatPaced(attacker.nextAddresses(addresses), perMinute, (from) =>
      attacker.send({ ...fullSubmission(next), from }),
    );
  },
});

const CLIENT_CONNECTIONS = 8;
/** Requests of one connection without a response. */
const DEPTH = 25;
const STATUS = /HTTP\/1\.1 (\d{3})/;

/** Returns requests with unsigned payments, and with transfers of the multisignature wallet, in turn. */
export function mixedSubmissions(attacker: Attacker): () => ReturnType<typeof fullSubmission> {
  const both = [unsignedPayments, walletTransfers].map((texts) => texts(new Accounts(attacker)));
  const next = inTurn(both);
  return () => fullSubmission(next());
}

async function pipelinePayments(attacker: Attacker): Promise<void> {
  const next = unsignedPayments(new Accounts(attacker));
  const open = () => {
    const socket = attacker.open("", { from: "127.0.0.1" });
    const post = () => {
      const { path, body } = fullSubmission(next);
      const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
      attacker.offered();
      socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\n\r\n${body}`);
    };
    let unread = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      unread += part;
      for (let status = STATUS.exec(unread); status; status = STATUS.exec(unread)) {
        unread = unread.slice(status.index + status[0].length);
        if (Number(status[1]) >= 400) attacker.counts.refused++;
        post();
      }
    });
    for (let index = 0; index < DEPTH; index++) post();
  };
  // Creating the bodies of one connection costs time.
  await attacker.keepOpen(CLIENT_CONNECTIONS, open, { atMost: 1 });
}

export const JUNK: Readonly<Record<string, Attack>> = {
  /** Unsigned payments of unknown accounts to 128 recipients each, from 45 addresses, 61 requests of each in a minute. */
  "unsigned payments": flood(45, 61, unsignedPayments),
  "junk multisignatures": { ...flood(11, 47, walletTransfers), prepare: registerWallet },
  "payments of another": flood(45, 61, foreignPayments),
  "junk registrations": flood(11, 47, registrations),
  "large mints": flood(45, 61, largeMints),
  /** A client with 8 connections to a dev chain: unsigned payments of unknown accounts, 40 a request. */
  "pipelined payments": { start: () => startForging({ isDevChain: true }), run: pipelinePayments },
};
