/** Useless transactions with valid signatures, and pages of pending ones. */
import type { Attack } from "../attacker.ts";
import {
  Accounts,
  fullSubmission,
  manyPayments,
  signedText,
  TRANSACTIONS_PER_REQUEST,
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
  /** Transfers of empty accounts. */
  "unfunded transactions": transfers((accounts, _nonce, number) => {
    const request = Math.floor(number / TRANSACTIONS_PER_REQUEST);
    return accounts.transfer(accounts.unfunded(), BigInt(1 + (request % 5)));
  }),
  /** Transfers of a funded account with nonces far ahead. */
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
