/** The largest possible pages of pending transactions, which the consensus thread builds. */
import { setTimeout as sleep } from "node:timers/promises";
import { signTransaction } from "@uniknode/protocol";
import { present } from "../../../packages/node/src/platform/present.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { manyPayments, TRANSACTIONS_PER_REQUEST } from "../junk-transactions.ts";
import { repeatPaced, send } from "../requests.ts";
import { openAccounts, submissionText } from "../sender.ts";

const READERS = 45;
const PAGES_PER_MINUTE = 95;
/** Blocks include pending transactions. */
const FILL_EVERY_MS = 1_000;
const PAGES = [
  "/api/v2/transactions/unconfirmed?limit=100",
  "/api/v2/transactions/unconfirmed?limit=100&transform=false",
];

export const pendingPages: Attack = {
  name: "pending pages",
  description: `pages of 100 valid transactions with 128 payments each, from ${READERS} addresses, ${PAGES_PER_MINUTE} of each in a minute`,
  async run(target, tally, signal) {
    const accounts = openAccounts(target);
    const { network, funded } = accounts;
    const { next } = clientAddresses(57);
    const from = next();
    let nonce = await accounts.nextNonce();
    // One recipient, so that blocks change few rows.
    const payment = () => {
      const sender = { senderPublicKey: funded.publicKey, nonce: nonce++ };
      return signTransaction(manyPayments(network, sender, funded.address), funded.keys);
    };

    async function fill(): Promise<void> {
      while (!signal.aborted) {
        const body = submissionText(Array.from({ length: TRANSACTIONS_PER_REQUEST }, payment));
        await send(target, tally, { path: "/api/v2/transactions", from, body });
        await sleep(FILL_EVERY_MS);
      }
    }
    let count = 0;
    const reading = repeatPaced(
      Array.from({ length: READERS }, next),
      { perMinute: PAGES_PER_MINUTE },
      signal,
      (from) => send(target, tally, { path: present(PAGES[count++ % PAGES.length]), from }),
    );
    await Promise.all([fill(), reading]);
  },
};
