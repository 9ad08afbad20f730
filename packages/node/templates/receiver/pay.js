/** `npm run pay`: a payment from one account of the dev chain to another. */
import { pathToFileURL } from "node:url";
import { createClient } from "@uniknode/client";
import {
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  networkFilesFromJson,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";

/** Passphrase of the first account of every dev chain. It is public: never use it for anything of value. */
export const PASSPHRASE = "tiny border lens sample arena stairs movie pitch office eye culture long";
/** The second account. */
export const RECIPIENT = "DAxkNhWf8g3spepbDYYpz5F3rKVEhmiSpP";

/**
 * Signs and sends a payment, and returns its id.
 *
 * @param {ReturnType<typeof createClient>} client
 * @param {bigint} amount in the smallest unit, 100,000,000 to a token
 */
export async function pay(client, amount) {
  const network = createNetwork(networkFilesFromJson((await client.node.cryptoConfiguration()).data));
  const keys = keysFromPassphrase(PASSPHRASE);
  const senderPublicKey = bytesToHex(keys.publicKey);
  const { data: sender } = await client.wallets.get(senderPublicKey);
  const transaction = signTransaction(
    builders.transfer({
      network,
      senderPublicKey,
      nonce: BigInt(sender.nonce) + 1n,
      recipientId: RECIPIENT,
      amount,
    }),
    keys,
  );
  const { data, errors } = await client.transactions.submit([transactionToJson(transaction)]);
  if (!data.accept.includes(transaction.id)) throw new Error(JSON.stringify(errors));
  return transaction.id;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const client = createClient({ url: process.env.UNIKNODE_URL ?? "http://127.0.0.1:4003" });
  console.log(`sent ${await pay(client, 150_000_000n)}`);
}
