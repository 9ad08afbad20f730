/** Things that others have stored: uniks and locks of one wallet, properties of one unik. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { builders, type TransactionBody } from "@uniknode/protocol";
import { factory } from "../../../chain/cast.ts";
import { inventedHolding, inventHolder } from "../../../store/invented-holdings.ts";
import type { Attack, Attacker } from "../attacker.ts";
import { startForging } from "../node.ts";
import {
  Accounts,
  beggar,
  type Envelope,
  signedText,
  submission,
  TRANSACTIONS_PER_REQUEST,
} from "../transactions.ts";

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

const unikOf = (number: number): string => createHash("sha256").update(`unik ${number}`).digest("hex");
const UNIK = unikOf(-1);
const keyOf = (number: number): string => `usr/property/${number}`;

/** A transaction of the funded account, which is complete except for its envelope. */
type Draft = (envelope: Envelope) => TransactionBody;

/** Submits drafts as fast as blocks contain them, until the signal is aborted. The pool refuses those after a gap of nonces. */
async function submitAll(attacker: Attacker, drafts: Iterable<Draft>): Promise<void> {
  const { signal } = attacker;
  const accounts = new Accounts(attacker);
  const { funded } = accounts;
  const before = await accounts.nonce();
  let [applied, nonce] = [before, before];
  const untilPending = async (most: number): Promise<void> => {
    for (;;) {
      // The node may not respond.
      applied = (await accounts.nonce()) || applied;
      if (signal.aborted || nonce - applied <= most) return;
      await sleep(SUBMIT_EVERY_MS);
    }
  };
  const texts: string[] = [];
  for (const draft of drafts) {
    texts.push(signedText(draft(accounts.envelope(funded, ++nonce)), funded));
    if (texts.length < TRANSACTIONS_PER_REQUEST) continue;
    await attacker.send(submission(texts.splice(0)));
    await untilPending(MAX_PENDING);
    if (signal.aborted) break;
  }
  if (texts.length > 0) await attacker.send(submission(texts));
  await untilPending(0);
  if (applied === before) throw new Error("no transaction of the attack is on the chain");
}

async function submitAndRead(
  attacker: Attacker,
  paths: readonly string[],
  drafts: Iterable<Draft>,
): Promise<void> {
  const reading = attacker.read(
    paths.map((path) => `/api/v2/${path}`),
    READERS,
    READS_PER_MINUTE,
  );
  await Promise.all([submitAll(attacker, drafts), reading]);
}

const mint =
  (tokenId: string): Draft =>
  (envelope) =>
    builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } });

/** The attacker owns the unik of the factory, and certifies. The fact of a disclosure contains the owner of the unik after it. */
const disclosure =
  (tokenId: string, keys: Accounts["funded"]["keys"]): Draft =>
  (envelope) =>
    builders.certifiedDisclosure({
      ...envelope,
      ...{ tokenId, keys, kind: 1, explicitValues: [tokenId.slice(0, 16)] },
      issuerTokenId: factory.unikId,
      issuedAt: Math.floor(Date.now() / 1_000),
      factory: { tokenId: factory.unikId, keys },
    });

/** Disclosures of some uniks, and transfers of all. */
const transfers = ({ funded: { keys } }: Accounts, recipientId: string): Draft[] =>
  Array.from({ length: SENT }, (_, number): Draft[] => {
    const tokenId = unikOf(number);
    const transfer: Draft = (envelope) => builders.nftTransfer({ ...envelope, tokenId, recipientId });
    return number % DISCLOSED_EVERY === 0 ? [disclosure(tokenId, keys), transfer] : [transfer];
  }).flat();

const update =
  (properties: Readonly<Record<string, string>>): Draft =>
  (envelope) =>
    builders.nftUpdate({ ...envelope, tokenId: UNIK, properties });

function addition(number: number): Draft {
  const numbers = Array.from({ length: PER_UPDATE }, (_, index) => number * PER_UPDATE + index);
  return update(Object.fromEntries(numbers.map((number) => [keyOf(number), `value ${number}`])));
}

/** Updates of one property after the other, without an end. */
function* updates(): Iterable<Draft> {
  for (let number = 0; ; number++)
    yield update({ [keyOf((number * 7_919) % (UPDATES * PER_UPDATE))]: `value ${number + 1}` });
}

export const ACCUMULATED: Readonly<Record<string, Attack>> = {
  /** Uniks are disclosed and sent to a wallet that holds many uniks and locks, which clients read. */
  "large wallet": {
    start: () =>
      startForging({ change: (database) => inventHolder(database, { ...beggar(0), holds: HELD }) }),
    maxTickMs: MAX_TICK_MS,
    prepare(attacker) {
      const uniks = [factory.unikId, ...Array.from({ length: SENT }, (_, number) => unikOf(number))];
      return submitAll(attacker, uniks.map(mint));
    },
    async run(attacker) {
      const { address } = beggar(0);
      const wallet = `wallets/${address}`;
      const paths = [
        ...[wallet, `${wallet}/uniks`, `${wallet}/transactions`, `${wallet}/locks`, "locks", "uniks"],
        ...[`locks/${inventedHolding(7)}`, "nfts/status", "wallets", "blockchain", "facts/500/proof"],
      ];
      await submitAndRead(attacker, paths, transfers(new Accounts(attacker), address));
    },
  },
  /** A unik with many properties is updated all the time, while clients read it. */
  "large unik": {
    start: () => startForging(),
    maxTickMs: MAX_TICK_MS,
    async prepare(attacker) {
      await submitAll(attacker, [mint(UNIK)]);
      await submitAll(
        attacker,
        Array.from({ length: UPDATES }, (_, number) => addition(number)),
      );
    },
    async run(attacker) {
      const unik = `uniks/${UNIK}`;
      const paths = [
        ...[unik, `${unik}/properties?page=200`, `${unik}/properties/${encodeURIComponent(keyOf(9_999))}`],
        ...[`${unik}/resolve`, "facts/5/proof", "facts/checkpoint"],
      ];
      await submitAndRead(attacker, paths, updates());
    },
  },
};
