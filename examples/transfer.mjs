/**
 * Signs a transfer, posts it, and prints the node's response.
 *
 *   npm run example -- transfer ADDRESS AMOUNT [BASE_URL]
 *
 * Prompts for the passphrase of the sender, unless UNIKNODE_PASSPHRASE contains it: other users of the machine can read arguments.
 * AMOUNT is in whole tokens, for example 12.5. The default of BASE_URL is UNIKNODE_URL, or the node on this machine.
 */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { createClient } from "@uniknode/client";
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  createNetwork,
  isAddress,
  keysFromPassphrase,
  networkFilesFromJson,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";

const { UNIKNODE_URL = "http://127.0.0.1:4003", UNIKNODE_PASSPHRASE } = process.env;
const [recipientId, tokens, url = UNIKNODE_URL] = process.argv.slice(2);
if (!recipientId || !/^\d+(\.\d{1,8})?$/.test(tokens ?? "")) {
  console.error("usage: npm run example -- transfer ADDRESS AMOUNT [BASE_URL]");
  process.exit(2);
}

/** Reads one line without echo. */
async function askPassphrase() {
  process.stderr.write("Passphrase: ");
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
  terminal.on("SIGINT", () => process.exit(130));
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}

async function transfer() {
  const passphrase = UNIKNODE_PASSPHRASE ?? (await askPassphrase());
  const client = createClient({ url });
  const keys = keysFromPassphrase(passphrase);
  const senderPublicKey = bytesToHex(keys.publicKey);
  // The parameters of the network that signing requires.
  const network = createNetwork(networkFilesFromJson((await client.node.cryptoConfiguration()).data));
  const { pubKeyHash } = network.description;
  if (!isAddress(recipientId, pubKeyHash))
    throw new Error(`${recipientId} is not an address of this network`);
  const address = addressFromPublicKey(senderPublicKey, pubKeyHash);
  const [wallet] = (await client.wallets.list({ address }).page()).data;
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
  console.log(transaction.id);
  console.log(JSON.stringify(await client.transactions.submit([transactionToJson(transaction)]), null, 2));
}

try {
  await transfer();
} catch (error) {
  const hint = error.code === "API_UNREACHABLE" ? `; is the node at ${url} running?` : "";
  console.error(`transfer: ${error.message}${hint}`);
  process.exitCode = 1;
}
