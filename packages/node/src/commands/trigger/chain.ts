/** Access to a running dev chain, for the causes of events. */
import { createHash, randomBytes } from "node:crypto";
import type { Client } from "@uniknode/client";
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  type KeyPair,
  keysFromPassphrase,
  type TransactionBody,
  transactionToJson,
} from "@uniknode/protocol";
import type { Cast } from "../../dev-chain/network.ts";
import { present } from "../../platform/present.ts";
import { post } from "../../submission/send.ts";
import { networkOf, prepareSender, type Sender, sign } from "../../submission/sender.ts";

export type Wallet = { readonly keys: KeyPair; readonly address: string };

export type TriggerChain = {
  readonly client: Client;
  readonly cast: Cast;
  /** An account with funds. */
  readonly payer: Wallet;
  /** Posts a transaction; a block contains it after `mine`. */
  send(from: Pick<Wallet, "keys">, build: (sender: Sender) => TransactionBody): Promise<void>;
  /** Forges blocks immediately, with the pending transactions. */
  mine(blocks?: number): Promise<void>;
  /** Creates a wallet with enough tokens for the most expensive transaction; its keys are not stored. */
  newWallet(): Promise<Wallet>;
  /** Creates a wallet that owns a new unik, and also returns the id of the unik. */
  newOwner(): Promise<Wallet & { readonly tokenId: string }>;
};

const FUNDS = 60n * 100_000_000n;

export async function openTriggerChain(client: Client, cast: Cast): Promise<TriggerChain> {
  const network = await networkOf(client);
  const payer = present(cast.accounts[0], "an account with funds");

  const chain: TriggerChain = {
    client,
    cast,
    payer,
    async send({ keys }, build) {
      const sender = await prepareSender(client, network, { keys });
      const noSecondKey = () => Promise.reject(new Error("wallets of a trigger have no second passphrase"));
      const signed = await sign(build(sender), sender, noSecondKey);
      await post(client, transactionToJson(signed) as { id: string });
    },
    async mine(blocks = 1) {
      await client.dev.mine({ blocks });
    },
    async newWallet() {
      const keys = keysFromPassphrase(randomBytes(16).toString("hex"));
      const address = addressFromPublicKey(bytesToHex(keys.publicKey), network.description.pubKeyHash);
      await chain.send(payer, ({ envelope }) =>
        builders.transfer({ ...envelope, recipientId: address, amount: FUNDS }),
      );
      await chain.mine();
      return { keys, address };
    },
    async newOwner() {
      const wallet = await chain.newWallet();
      const tokenId = createHash("sha256").update(wallet.keys.publicKey).digest("hex");
      await chain.send(wallet, ({ envelope }) =>
        builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } }),
      );
      await chain.mine();
      return { ...wallet, tokenId };
    },
  };
  return chain;
}
