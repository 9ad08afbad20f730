/** Useless transactions with valid signatures. */
import { clientAddresses } from "../addresses.ts";
import type { Attack, Tally } from "../attack-definition.ts";
import { repeat, send } from "../requests.ts";
import { type Accounts, openAccounts, submissionText, transfer } from "../sender.ts";
import type { Target } from "../target.ts";

const TRANSACTIONS_PER_REQUEST = 40;
const FEE = 10_000_000n;

/** Submits 40 transactions a request from ever new addresses; `make` is given the number of the request. */
function flood(
  addressNetwork: number,
  make: (accounts: Accounts, nonce: bigint, request: number, index: number) => ReturnType<typeof transfer>,
) {
  return async (target: Target, tally: Tally, signal: AbortSignal): Promise<void> => {
    const addresses = clientAddresses(addressNetwork);
    const accounts = openAccounts(target);
    const nonce = await accounts.nextNonce();
    let requests = 0;
    await repeat({ atOnce: 2, pauseMs: 50 }, signal, () => {
      const number = requests++;
      const transactions = Array.from({ length: TRANSACTIONS_PER_REQUEST }, (_, index) =>
        make(accounts, nonce, number, index),
      );
      return send(target, tally, {
        path: "/api/v2/transactions",
        from: addresses.next(),
        body: submissionText(transactions),
      });
    });
  };
}

export const unfundedTransactions: Attack = {
  name: "unfunded transactions",
  description: "transfers of empty accounts",
  run: flood(31, (accounts, _nonce, request) =>
    transfer(accounts, { sender: accounts.unfunded(), nonce: BigInt(1 + (request % 5)) }),
  ),
};

export const nonceGaps: Attack = {
  name: "nonce gaps",
  description: "transfers of a funded account with nonces far ahead",
  run: flood(32, (accounts, nonce, request, index) =>
    transfer(accounts, { sender: accounts.funded, nonce: nonce + BigInt(1_000 + request * 40 + index) }),
  ),
};

export const replacedTransactions: Attack = {
  name: "replaced transactions",
  description: "the same few nonces of a funded account again and again, with higher fees",
  run: flood(33, (accounts, nonce, request, index) =>
    transfer(accounts, {
      sender: accounts.funded,
      nonce: nonce + BigInt(index % 4),
      fee: FEE + BigInt(request * 40 + index),
    }),
  ),
};
