/** What must be known of a wallet, and of the chain, before a transaction of it can be built. */
import { ApiError, type Client, type SingleWallet } from "@uniknode/client";
import {
  addressFromPublicKey,
  type builders,
  bytesToHex,
  createNetwork,
  type KeyPair,
  type Network,
  networkFilesFromJson,
  secondSignTransaction,
  signTransaction,
  type Transaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { SendError } from "./error.ts";

export type Sender = {
  readonly client: Client;
  readonly network: Network;
  readonly keys: KeyPair;
  readonly address: string;
  /** Absent for a wallet that nothing was ever sent to. */
  readonly wallet: SingleWallet | undefined;
  /** What is around each transaction, for builders. */
  readonly envelope: builders.Envelope;
};

export type SenderOptions = {
  readonly keys: KeyPair;
  /** In the smallest unit. Default: the static fee of the type. */
  readonly fee?: bigint | undefined;
  /** Default: the one behind what the wallet has sent, and has waiting. */
  readonly nonce?: bigint | undefined;
};

/** The network that a node is of, with all its rules. */
export async function networkOf(client: Client): Promise<Network> {
  const { data } = await client.node.cryptoConfiguration();
  return createNetwork(networkFilesFromJson(data));
}

/** @throws {ApiError} */
export async function prepareSender(
  client: Client,
  network: Network,
  { keys, fee, nonce }: SenderOptions,
): Promise<Sender> {
  const senderPublicKey = bytesToHex(keys.publicKey);
  const address = addressFromPublicKey(senderPublicKey, network.description.pubKeyHash);
  // The pool first: what leaves it between the questions has become part of the wallet.
  const waiting = nonce === undefined ? await lastWaiting(client, senderPublicKey) : 0n;
  const wallet = await findWallet(client, address);
  const sent = BigInt(wallet?.nonce ?? 0);
  const { height } = (await client.blockchain.get()).data.block;
  const envelope = {
    network,
    senderPublicKey,
    height,
    nonce: nonce ?? (waiting > sent ? waiting : sent) + 1n,
    ...(fee !== undefined && { fee }),
  };
  return { client, network, keys, address, wallet, envelope };
}

/**
 * Signs for the sender, and once more where the wallet has a second key.
 *
 * @param readSecondKeys is asked for that key only
 * @throws {SendError} SEND_WRONG_SECOND_KEY
 */
export async function sign(
  body: TransactionBody,
  { keys, wallet, address }: Sender,
  readSecondKeys: () => Promise<KeyPair>,
): Promise<Transaction> {
  const signed = signTransaction(body, keys);
  if (!wallet?.secondPublicKey) return signed;
  const secondKeys = await readSecondKeys();
  if (bytesToHex(secondKeys.publicKey) !== wallet.secondPublicKey) {
    throw new SendError(
      { code: "SEND_WRONG_SECOND_KEY", address },
      `the second passphrase is not the one that ${address} registered`,
    );
  }
  return secondSignTransaction(signed, secondKeys);
}

async function findWallet(client: Client, address: string): Promise<SingleWallet | undefined> {
  try {
    return (await client.wallets.get(address)).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === "API_NOT_FOUND") return undefined;
    throw error;
  }
}

/** The last nonce that waits in the pool, or 0: several transactions may be sent one after the other. */
async function lastWaiting(client: Client, publicKey: string): Promise<bigint> {
  let last = 0n;
  for await (const { senderPublicKey, nonce = 0 } of client.transactions.unconfirmed({ transform: false })) {
    if (senderPublicKey === publicKey && BigInt(nonce) > last) last = BigInt(nonce);
  }
  return last;
}
