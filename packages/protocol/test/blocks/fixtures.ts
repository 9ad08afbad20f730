/** Real transactions for the tests of blocks. */
import {
  addressFromPublicKey,
  bytesToHex,
  encodeTransaction,
  type KeyPair,
  keysFromPassphrase,
  type Network,
  type SealedTransaction,
  signTransaction,
  type Transaction,
  type TransactionBody,
} from "../../src/index.ts";

export const sender = keysFromPassphrase("sender");

const sealedOf = (data: Transaction): SealedTransaction => ({
  data,
  bytes: encodeTransaction(data),
  isVerified: true,
});

/** Signed transfer of `amount` to the sender's own wallet, in version 2 by default. */
export function transfer(
  { description: { pubKeyHash } }: Network,
  amount: bigint,
  members: Partial<TransactionBody> = { nonce: amount },
  keys: KeyPair = sender,
): SealedTransaction {
  const senderPublicKey = bytesToHex(keys.publicKey);
  const body = {
    version: 2,
    network: pubKeyHash,
    typeGroup: 1,
    type: 0,
    senderPublicKey,
    fee: 10_000_000n,
    amount,
    expiration: 0,
    recipientId: addressFromPublicKey(senderPublicKey, pubKeyHash),
    ...members,
  };
  return sealedOf(signTransaction(body, keys));
}

/** Transaction in the form of the genesis block. */
export const genesisTransfer = (network: Network, amount: bigint): SealedTransaction =>
  transfer(network, amount, { version: 1, timestamp: 0, fee: 0n });
