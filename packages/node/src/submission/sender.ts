/**
 * The state of a wallet and of the chain that building a transaction needs, and the reasons why a transaction was not
 * sent or not forged.
 */
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
import { CodedError } from "../platform/coded-error.ts";

export type Sender = {
  readonly client: Client;
  readonly network: Network;
  readonly keys: KeyPair;
  readonly address: string;
  /** Undefined for a wallet that never received anything. */
  readonly wallet: SingleWallet | undefined;
  /** Common members of each transaction, for builders. */
  readonly envelope: SenderEnvelope;
};

/** `height` is that of the head. */
export type SenderEnvelope = builders.Envelope & { readonly height: number };

type SenderOptions = {
  readonly keys: KeyPair;
  /** Fee in the smallest unit. Defaults to the static fee of the type. */
  readonly fee?: bigint | undefined;
  /** Default: the next one after the forged and the pending transactions of the wallet. */
  readonly nonce?: bigint | undefined;
};

/** The network of a node, with all its rules. */
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
  // The pool first: a transaction that is forged between the two requests is then counted by the wallet.
  const pending = nonce === undefined ? await lastPendingNonce(client, senderPublicKey) : 0n;
  const wallet = await findWallet(client, address);
  const sent = BigInt(wallet?.nonce ?? 0);
  const { height } = (await client.blockchain.get()).data.block;
  const envelope = {
    network,
    senderPublicKey,
    height,
    nonce: nonce ?? (pending > sent ? pending : sent) + 1n,
    ...(fee !== undefined && { fee }),
  };
  return { client, network, keys, address, wallet, envelope };
}

/**
 * Signs for the sender, and a second time if the wallet has a second key.
 *
 * @param readSecondKeys called only for a wallet with a second key
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
      `wrong second passphrase: it does not match the second public key of ${address}`,
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

/** The highest pending nonce of the sender, or 0: several transactions may be sent before a block. */
async function lastPendingNonce(client: Client, publicKey: string): Promise<bigint> {
  let last = 0n;
  for await (const { senderPublicKey, nonce = 0 } of client.transactions.unconfirmed({ transform: false })) {
    if (senderPublicKey === publicKey && BigInt(nonce) > last) last = BigInt(nonce);
  }
  return last;
}

type SendErrorType =
  /** The node refused the transaction, and nothing was sent; `reasons` come from the node. */
  | {
      readonly code: "SEND_REFUSED";
      readonly id: string;
      readonly reasons: readonly { readonly type: string; readonly message: string }[];
    }
  /** The sender has too many pending transactions; retry when some are forged. */
  | { readonly code: "SEND_EXCESS"; readonly id: string }
  /**
   * No response, or the node processed it since its last block and does not repeat the outcome, or it left the pool and the server lacks the
   * newest blocks. The same transaction can
   * be sent again; a new one could pay twice.
   */
  | { readonly code: "SEND_UNCERTAIN"; readonly id: string; readonly cause?: ApiError }
  /** The transaction left the pool without being forged: it expired or was replaced. */
  | { readonly code: "SEND_DROPPED"; readonly id: string }
  /** The transaction is still pending, and may be forged later. */
  | { readonly code: "SEND_STILL_WAITING"; readonly id: string; readonly waitedMs: number }
  /** The second passphrase does not match the second public key of the wallet. */
  | { readonly code: "SEND_WRONG_SECOND_KEY"; readonly address: string }
  /** The wallet lacks a requirement of the transaction: a vote to withdraw, a unik, a public key. */
  | { readonly code: "SEND_NOTHING_THERE"; readonly address: string };

export type Refusal = Extract<SendErrorType, { code: "SEND_REFUSED" }>;

type SendErrorCode = SendErrorType["code"];

export class SendError extends CodedError<SendErrorCode> {
  readonly type: SendErrorType;

  constructor(type: SendErrorType, message: string) {
    super(type.code, message, { isRetryable: type.code === "SEND_EXCESS" || type.code === "SEND_UNCERTAIN" });
    this.type = type;
  }
}
