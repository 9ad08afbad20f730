/** Signed transfers of attackers. */
import {
  builders,
  createNetwork,
  type Network,
  signTransaction,
  type Transaction,
  transactionToJson,
} from "@uniknode/protocol";
import { type DevAccount, deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { testNetwork } from "../../packages/node/test-support/peers/test-network.ts";
import type { Target } from "./target.ts";

export type Accounts = {
  readonly network: Network;
  /** Funded account. */
  readonly funded: DevAccount;
  /** Returns a different unfunded account at each call. */
  unfunded(): DevAccount;
  /** Returns the next nonce of the funded account from the API. */
  nextNonce(): Promise<bigint>;
};

/** Mnemonic of all test accounts; only the names derived from it belong to the attackers. */
const MNEMONIC = "test test test test test test test test test test test junk";

export type Transfer = {
  readonly sender: DevAccount;
  readonly nonce: bigint;
  readonly fee?: bigint;
  readonly vendorField?: string;
};

export function openAccounts({ network: shape, host, httpPort }: Target): Accounts {
  const { files, rich } = testNetwork(shape);
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  let count = 0;
  return {
    network: createNetwork(files),
    funded: rich,
    unfunded: () => people(`beggar ${count++ % 500}`),
    async nextNonce() {
      const response = await fetch(`http://${host}:${httpPort}/api/v2/wallets/${rich.address}`);
      const { data } = (await response.json()) as { data?: { nonce: string } };
      return BigInt(data?.nonce ?? 0) + 1n;
    },
  };
}

/** Transfer of one smallest unit to the sender itself. */
export function transfer({ network }: Accounts, { sender, nonce, ...more }: Transfer): Transaction {
  const { publicKey, address, keys } = sender;
  const body = { network, senderPublicKey: publicKey, nonce, recipientId: address, amount: 1n, ...more };
  return signTransaction(builders.transfer(body), keys);
}

export const submissionText = (transactions: readonly Transaction[]): string =>
  JSON.stringify({ transactions: transactions.map(transactionToJson) });
