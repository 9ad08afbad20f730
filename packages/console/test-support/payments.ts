/** Cheap payments on a dev chain: the test signs and submits them itself. */
import {
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  networkFilesFromJson,
  present,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { DevNode } from "./dev-node.ts";

/** Submits a payment of the first account to itself, and returns its id. */
export type Pay = (vendorField?: string) => Promise<string>;

export async function createPayer({ client }: DevNode): Promise<Pay> {
  const [{ data: files }, { data: dev }] = await Promise.all([
    client.node.cryptoConfiguration(),
    client.dev.accounts(),
  ]);
  const { address, passphrase } = present(dev.accounts[0]);
  const { data: wallet } = await client.wallets.get(address);
  const network = createNetwork(networkFilesFromJson(files));
  const keys = keysFromPassphrase(passphrase);
  const senderPublicKey = bytesToHex(keys.publicKey);
  let nonce = BigInt(wallet.nonce);
  return async (vendorField = "") => {
    nonce += 1n;
    const transfer = { network, senderPublicKey, nonce, recipientId: address, amount: 1n };
    const body = builders.transfer(vendorField === "" ? transfer : { ...transfer, vendorField });
    const transaction = transactionToJson(signTransaction(body, keys)) as { readonly id: string };
    const { data } = await client.transactions.submit([transaction]);
    if (data.accept.length === 0) throw new Error("the pool refused a payment");
    return transaction.id;
  };
}
