/** Useless transactions with valid signatures, and pages of pending ones. */
import { signTransaction } from "@uniknode/protocol";
import type { Attack } from "../attacker.ts";
import { inTurn } from "../requests.ts";
import {
  type Accounts,
  manyPayments,
  openAccounts,
  submission,
  TRANSACTIONS_PER_REQUEST,
  textOf,
  transferText,
} from "../transactions.ts";

const FEE = 10_000_000n;

/** Submits signed transfers by their numbers; `nonce` is the first free one of the funded account. */
const transfers =
  (transfer: (accounts: Accounts, nonce: bigint, number: number) => string): Attack["run"] =>
  async (attacker) => {
    const accounts = openAccounts(attacker);
    const nonce = (await accounts.nonce()) + 1n;
    let number = 0;
    const next = () => transfer(accounts, nonce, number++);
    await attacker.repeat({ atOnce: 2, pauseMs: 50 }, () =>
      attacker.send(submission(Array.from({ length: TRANSACTIONS_PER_REQUEST }, next))),
    );
  };

const READERS = 45;
const PAGES_PER_MINUTE = 95;
/** Blocks include pending transactions. */
const FILL_EVERY_MS = 1_000;
const PAGE = "/api/v2/transactions/unconfirmed?limit=100";

export const POOL: readonly Attack[] = [
  {
    name: "unfunded transactions",
    description: "transfers of empty accounts",
    run: transfers((accounts, _nonce, number) => {
      const request = Math.floor(number / TRANSACTIONS_PER_REQUEST);
      return transferText(accounts, accounts.unfunded(), { nonce: BigInt(1 + (request % 5)) });
    }),
  },
  {
    name: "nonce gaps",
    description: "transfers of a funded account with nonces far ahead",
    run: transfers((accounts, nonce, number) =>
      transferText(accounts, accounts.funded, { nonce: nonce + BigInt(1_000 + number) }),
    ),
  },
  {
    name: "replaced transactions",
    description: "the same few nonces of a funded account again and again, with higher fees",
    run: transfers((accounts, nonce, number) => {
      const replacing = { nonce: nonce + BigInt(number % 4), fee: FEE + BigInt(number) };
      return transferText(accounts, accounts.funded, replacing);
    }),
  },
  {
    name: "pending pages",
    description: `pages of 100 valid transactions with 128 payments each, from ${READERS} addresses, ${PAGES_PER_MINUTE} of each in a minute`,
    async run(attacker) {
      const accounts = openAccounts(attacker);
      const { network, funded } = accounts;
      const from = attacker.nextAddress();
      let nonce = await accounts.nonce();
      // One recipient, so that blocks change few rows.
      const payment = () => {
        const sender = { senderPublicKey: funded.publicKey, nonce: ++nonce };
        return textOf(signTransaction(manyPayments(network, sender, funded.address), funded.keys));
      };
      const filling = attacker.repeat({ pauseMs: FILL_EVERY_MS }, () =>
        attacker.send({ ...submission(Array.from({ length: TRANSACTIONS_PER_REQUEST }, payment)), from }),
      );
      const nextPage = inTurn([PAGE, `${PAGE}&transform=false`]);
      const reading = attacker.repeatPaced(attacker.nextAddresses(READERS), PAGES_PER_MINUTE, (from) =>
        attacker.send({ path: nextPage(), from }),
      );
      await Promise.all([filling, reading]);
    },
  },
];
