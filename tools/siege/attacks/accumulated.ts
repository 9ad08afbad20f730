/** Things that others have stored: uniks and locks of one wallet, properties of one unik. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builders, signTransaction, type Transaction, type TransactionBody } from "@uniknode/protocol";
import { present } from "../../../packages/node/src/platform/present.ts";
import { openDatabase } from "../../../packages/node/src/store/engine/database.ts";
import {
  inventedHolding,
  inventHolder,
} from "../../../packages/node/test-support/store/invented-holdings.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack, Tally } from "../attack-definition.ts";
import { TRANSACTIONS_PER_REQUEST } from "../junk-transactions.ts";
import { repeatPaced, send } from "../requests.ts";
import { type Accounts, openAccounts, submissionText } from "../sender.ts";
import { dataFolderOf, newFolder, startForging } from "../start-node.ts";
import type { SiegedNode, Target } from "../target.ts";

const HELD = { tokens: 20_000, locks: 5_000 };
/** Updates of one unik, each with as many properties as a transaction can have. */
const UPDATES = 100;
const PER_UPDATE = 255;
const READERS = 8;
const READS_PER_MINUTE = 90;
/** A block contains as many transactions as the pool selects for it. */
const SUBMIT_EVERY_MS = 250;
const MAX_TICK_MS = 50;
const PREPARE_TIMEOUT_MS = 120_000;

const unikOf = (number: number): string => createHash("sha256").update(`unik ${number}`).digest("hex");
const UNIK = unikOf(-1);
const keyOf = (number: number): string => `usr/property/${number}`;

/** Signs transactions of the funded account, one after another. */
async function openSigner(accounts: Accounts) {
  const { network, funded } = accounts;
  let nonce = await accounts.nextNonce();
  type Envelope = {
    readonly network: Accounts["network"];
    readonly senderPublicKey: string;
    readonly nonce: bigint;
  };
  return (build: (envelope: Envelope) => TransactionBody): Transaction =>
    signTransaction(build({ network, senderPublicKey: funded.publicKey, nonce: nonce++ }), funded.keys);
}

/** Submits transactions all the time, while readers request the paths in turn. */
async function submitAndRead(
  {
    target,
    tally,
    signal,
    addresses,
  }: { target: Target; tally: Tally; signal: AbortSignal; addresses: number },
  paths: readonly string[],
  next: () => Transaction[],
): Promise<void> {
  const { next: address } = clientAddresses(addresses);
  async function submit(): Promise<void> {
    while (!signal.aborted) {
      const body = submissionText(next());
      await send(target, tally, { path: "/api/v2/transactions", from: address(), body });
      await sleep(SUBMIT_EVERY_MS);
    }
  }
  let count = 0;
  const readers = Array.from({ length: READERS }, address);
  const reading = repeatPaced(readers, { perMinute: READS_PER_MINUTE }, signal, (from) =>
    send(target, tally, { path: `/api/v2/${present(paths[count++ % paths.length])}`, from }),
  );
  await Promise.all([submit(), reading]);
}

/** Starts a node, and again with a wallet that holds much. */
async function startWithHolder(): Promise<SiegedNode> {
  const folder = newFolder();
  const first = await startForging({ folder });
  await first.stop();
  const database = openDatabase(join(dataFolderOf(folder), "node.sqlite"));
  inventHolder(database, { ...openAccounts(first.target).unfunded(), holds: HELD });
  database.close();
  return startForging({ folder });
}

export const largeWallet: Attack = {
  name: "large wallet",
  description: `uniks are sent to a wallet that holds ${HELD.tokens} uniks and ${HELD.locks} locks, which ${READERS} clients read`,
  start: startWithHolder,
  maxTickMs: MAX_TICK_MS,
  async run(target, tally, signal) {
    const accounts = openAccounts(target);
    const { address } = accounts.unfunded();
    const sign = await openSigner(accounts);
    let minted = 0;
    const wallet = `wallets/${address}`;
    const paths = [
      ...[wallet, `${wallet}/uniks`, `${wallet}/transactions`, `${wallet}/locks`, "locks", "uniks"],
      ...[`locks/${inventedHolding(7)}`, "nfts/status", "wallets", "blockchain", "facts/5/proof"],
    ];
    await submitAndRead({ target, tally, signal, addresses: 63 }, paths, () =>
      Array.from({ length: TRANSACTIONS_PER_REQUEST / 2 }, () => {
        const tokenId = unikOf(minted++);
        return [
          sign((envelope) => builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } })),
          sign((envelope) => builders.nftTransfer({ ...envelope, tokenId, recipientId: address })),
        ];
      }).flat(),
    );
  },
};

/** Mints a unik, and adds its properties. */
async function mintLargeUnik(target: Target): Promise<void> {
  const accounts = openAccounts(target);
  const sign = await openSigner(accounts);
  const first = await accounts.nextNonce();
  const all = [
    sign((envelope) => builders.nftMint({ ...envelope, tokenId: UNIK, properties: { type: "1" } })),
    ...Array.from({ length: UPDATES }, (_, update) => {
      const numbers = Array.from({ length: PER_UPDATE }, (_, index) => update * PER_UPDATE + index);
      const properties = Object.fromEntries(numbers.map((number) => [keyOf(number), `value ${number}`]));
      return sign((envelope) => builders.nftUpdate({ ...envelope, tokenId: UNIK, properties }));
    }),
  ];
  const uncounted = { offered() {}, refused() {} };
  const { next } = clientAddresses(64);
  const endsMs = performance.now() + PREPARE_TIMEOUT_MS;
  for (let sent = 0; sent < all.length; ) {
    const body = submissionText(all.slice(sent, sent + TRANSACTIONS_PER_REQUEST));
    await send(target, uncounted, { path: "/api/v2/transactions", from: next(), body });
    await sleep(SUBMIT_EVERY_MS);
    sent += TRANSACTIONS_PER_REQUEST;
  }
  while ((await accounts.nextNonce()) < first + BigInt(all.length)) {
    if (performance.now() > endsMs) throw new Error("the properties of the unik are not on the chain");
    await sleep(1_000);
  }
}

export const largeUnik: Attack = {
  name: "large unik",
  description: `a unik with ${UPDATES * PER_UPDATE} properties is updated all the time, while ${READERS} clients read it`,
  start: () => startForging(),
  prepare: mintLargeUnik,
  maxTickMs: MAX_TICK_MS,
  async run(target, tally, signal) {
    const sign = await openSigner(openAccounts(target));
    let updates = 0;
    const unik = `uniks/${UNIK}`;
    const paths = [
      ...[unik, `${unik}/properties?page=200`, `${unik}/properties/${encodeURIComponent(keyOf(9_999))}`],
      ...[`${unik}/resolve`, "facts/5/proof", "facts/checkpoint"],
    ];
    await submitAndRead({ target, tally, signal, addresses: 65 }, paths, () =>
      Array.from({ length: TRANSACTIONS_PER_REQUEST }, () => {
        const properties = { [keyOf((updates++ * 7_919) % (UPDATES * PER_UPDATE))]: `value ${updates}` };
        return sign((envelope) => builders.nftUpdate({ ...envelope, tokenId: UNIK, properties }));
      }),
    );
  },
};
