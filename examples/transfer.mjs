/**
 * Signs a transfer, posts it, and prints the node's answer.
 *
 *   npm run example -- transfer "PASSPHRASE" ADDRESS AMOUNT [BASE_URL]
 *
 * AMOUNT is in whole tokens, as in 12.5.
 */
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";

const [passphrase, recipientId, tokens, baseUrl = "http://127.0.0.1:4003"] = process.argv.slice(2);
if (!passphrase || !recipientId || !/^\d+(\.\d{1,8})?$/.test(tokens ?? "")) {
  console.error('usage: npm run example -- transfer "PASSPHRASE" ADDRESS AMOUNT [BASE_URL]');
  process.exit(2);
}

const get = async (path) => (await (await fetch(`${baseUrl}${path}`)).json()).data;

const keys = keysFromPassphrase(passphrase);
const senderPublicKey = bytesToHex(keys.publicKey);
// Everything that must be known of a network to sign for it.
const network = createNetwork(await get("/api/node/configuration/crypto"));
const address = addressFromPublicKey(senderPublicKey, network.description.pubKeyHash);
const [wallet] = await get(`/api/wallets?address=${address}`);
const [whole, fraction = ""] = tokens.split(".");

const transaction = signTransaction(
  builders.transfer({
    network,
    senderPublicKey,
    nonce: BigInt(wallet?.nonce ?? 0) + 1n,
    recipientId,
    amount: BigInt(whole + fraction.padEnd(8, "0")),
  }),
  keys,
);
const response = await fetch(`${baseUrl}/api/v2/transactions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ transactions: [transactionToJson(transaction)] }),
});
console.log(transaction.id);
console.log(JSON.stringify(await response.json(), null, 2));
