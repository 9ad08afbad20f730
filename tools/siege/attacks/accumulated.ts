/** Things that others have stored: uniks and locks of one wallet, properties of one unik. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builders, signTransaction, type Transaction, type TransactionBody } from "@uniknode/protocol";
import { present } from "../../../packages/node/src/platform/present.ts";
import { openDatabase } from "../../../packages/node/src/store/engine/database.ts";
import { factory } from "../../../packages/node/test-support/faults/actors/cast.ts";
import {
  inventedHolding,
  inventHolder,
} from "../../../packages/node/test-support/store/invented-holdings.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack, Counts, Tally } from "../attack-definition.ts";
import { TRANSACTIONS_PER_REQUEST } from "../junk-transactions.ts";
import { ask, repeatPaced, send } from "../requests.ts";
import { type Accounts, openAccounts, submissionText } from "../sender.ts";
import { dataFolderOf, newFolder, startForging } from "../start-node.ts";
import type { SiegedNode, Target } from "../target.ts";

/** Uniks that are disclosed and sent: as many as the blocks of an attack contain. */
const SENT = 1_500;
/** Few, because the certification of each needs two checks of signatures, whatever others have stored. */
const DISCLOSED_EVERY = 20;
const HELD = { tokens: 20_000, locks: 5_000 };
/** Updates of one unik, each with as many properties as a transaction can have. */
const UPDATES = 100;
const PER_UPDATE = 255;
const READERS = 8;
const READS_PER_MINUTE = 90;
/** A block contains as many transactions as the pool selects for it. */
const SUBMIT_EVERY_MS = 250;
/** The pool accepts 300 of a sender. */
const MAX_PENDING = 240;
const MAX_TICK_MS = 50;
const PREPARE_TIMEOUT_MS = 120_000;

const unikOf = (number: number): string => createHash("sha256").update(`unik ${number}`).digest("hex");
const UNIK = unikOf(-1);
const keyOf = (number: number): string => `usr/property/${number}`;

type Sign = (build: (envelope: Envelope) => TransactionBody) => Transaction;
type Envelope = {
  readonly network: Accounts["network"];
  readonly senderPublicKey: string;
  readonly nonce: bigint;
};

type Submission = {
  readonly target: Target;
  readonly tally: Counts;
  /** Returns the address of the next client. */
  readonly address: () => string;
  readonly signal: AbortSignal;
};

/** Submits transactions of the funded account as fast as blocks contain them. The pool refuses those after a gap of nonces. */
async function submitAll(
  { target, tally, address, signal }: Submission,
  next: (sign: Sign, count: number) => Transaction[],
): Promise<void> {
  const { network, funded } = openAccounts(target);
  const path = `/api/v2/wallets/${funded.address}`;
  let applied = 0n;
  const readNonce = async (): Promise<void> => {
    const { status, text } = await ask(target, { path, from: address() });
    if (status === 200) applied = BigInt(JSON.parse(text).data.nonce);
  };
  await readNonce();
  const before = applied;
  let nonce = applied + 1n;
  const pending = async (): Promise<number> => {
    await readNonce();
    return Number(nonce - applied) - 1;
  };
  const sign: Sign = (build) =>
    signTransaction(build({ network, senderPublicKey: funded.publicKey, nonce: nonce++ }), funded.keys);
  while (!signal.aborted) {
    const transactions = next(sign, TRANSACTIONS_PER_REQUEST);
    if (transactions.length === 0) break;
    const body = submissionText(transactions);
    await send(target, tally, { path: "/api/v2/transactions", from: address(), body });
    while (!signal.aborted && (await pending()) > MAX_PENDING) await sleep(SUBMIT_EVERY_MS);
  }
  while (!signal.aborted && (await pending()) > 0) await sleep(SUBMIT_EVERY_MS);
  if (applied === before) throw new Error("no transaction of the attack is on the chain");
}

const mint = (sign: Sign, tokenId: string): Transaction =>
  sign((envelope) => builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } }));

/** Submits what an attack needs, and waits until it is on the chain. */
async function prepare(target: Target, next: (sign: Sign, count: number) => Transaction[]): Promise<void> {
  const signal = AbortSignal.timeout(PREPARE_TIMEOUT_MS);
  const tally = { offered() {}, refused() {} };
  await submitAll({ target, tally, signal, address: clientAddresses(64).next }, next);
  if (signal.aborted) throw new Error("what the attack needs is not on the chain");
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
  next: (sign: Sign, count: number) => Transaction[],
): Promise<void> {
  const { next: address } = clientAddresses(addresses);
  let count = 0;
  const readers = Array.from({ length: READERS }, address);
  const reading = repeatPaced(readers, { perMinute: READS_PER_MINUTE }, signal, (from) =>
    send(target, tally, { path: `/api/v2/${present(paths[count++ % paths.length])}`, from }),
  );
  await Promise.all([submitAll({ target, tally, address, signal }, next), reading]);
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

/** The attacker owns the unik of the factory, and certifies. The fact of a disclosure contains the owner of the unik after it. */
const disclosure = (envelope: Envelope, tokenId: string, keys: Accounts["funded"]["keys"]): TransactionBody =>
  builders.certifiedDisclosure({
    ...envelope,
    ...{ tokenId, keys, kind: 1, explicitValues: [tokenId.slice(0, 16)] },
    issuerTokenId: factory.unikId,
    issuedAt: Math.floor(Date.now() / 1_000),
    factory: { tokenId: factory.unikId, keys },
  });

export const largeWallet: Attack = {
  name: "large wallet",
  description: `uniks are disclosed and sent to a wallet that holds ${HELD.tokens} uniks and ${HELD.locks} locks, which ${READERS} clients read`,
  start: startWithHolder,
  prepare: (target) => {
    const uniks = [factory.unikId, ...Array.from({ length: SENT }, (_, number) => unikOf(number))];
    return prepare(target, (sign, count) => uniks.splice(0, count).map((unik) => mint(sign, unik)));
  },
  maxTickMs: MAX_TICK_MS,
  async run(target, tally, signal) {
    const accounts = openAccounts(target);
    const { address } = accounts.unfunded();
    const { keys } = accounts.funded;
    let used = 0;
    const wallet = `wallets/${address}`;
    const paths = [
      ...[wallet, `${wallet}/uniks`, `${wallet}/transactions`, `${wallet}/locks`, "locks", "uniks"],
      ...[`locks/${inventedHolding(7)}`, "nfts/status", "wallets", "blockchain", "facts/500/proof"],
    ];
    await submitAndRead({ target, tally, signal, addresses: 63 }, paths, (sign, count) =>
      Array.from({ length: Math.min(Math.floor(count / (1 + 1 / DISCLOSED_EVERY)), SENT - used) }, () => {
        const number = used++;
        const tokenId = unikOf(number);
        const disclosed =
          number % DISCLOSED_EVERY === 0 ? [sign((envelope) => disclosure(envelope, tokenId, keys))] : [];
        return [
          ...disclosed,
          sign((envelope) => builders.nftTransfer({ ...envelope, tokenId, recipientId: address })),
        ];
      }).flat(),
    );
  },
};

/** Returns an update of a unik, which adds as many properties as a transaction can have. */
function addition(sign: Sign, update: number): Transaction {
  const numbers = Array.from({ length: PER_UPDATE }, (_, index) => update * PER_UPDATE + index);
  const properties = Object.fromEntries(numbers.map((number) => [keyOf(number), `value ${number}`]));
  return sign((envelope) => builders.nftUpdate({ ...envelope, tokenId: UNIK, properties }));
}

export const largeUnik: Attack = {
  name: "large unik",
  description: `a unik with ${UPDATES * PER_UPDATE} properties is updated all the time, while ${READERS} clients read it`,
  start: () => startForging(),
  prepare: async (target) => {
    const [uniks, updates] = [[UNIK], Array.from({ length: UPDATES }, (_, update) => update)];
    await prepare(target, (sign) => uniks.splice(0).map((unik) => mint(sign, unik)));
    await prepare(target, (sign, count) => updates.splice(0, count).map((update) => addition(sign, update)));
  },
  maxTickMs: MAX_TICK_MS,
  async run(target, tally, signal) {
    let updates = 0;
    const unik = `uniks/${UNIK}`;
    const paths = [
      ...[unik, `${unik}/properties?page=200`, `${unik}/properties/${encodeURIComponent(keyOf(9_999))}`],
      ...[`${unik}/resolve`, "facts/5/proof", "facts/checkpoint"],
    ];
    await submitAndRead({ target, tally, signal, addresses: 65 }, paths, (sign, count) =>
      Array.from({ length: count }, () => {
        const properties = { [keyOf((updates++ * 7_919) % (UPDATES * PER_UPDATE))]: `value ${updates}` };
        return sign((envelope) => builders.nftUpdate({ ...envelope, tokenId: UNIK, properties }));
      }),
    );
  },
};
