/** Contents of events as JSON values (events.md 1). 64-bit numbers are decimal text. */
import type { Wallet } from "@uniknode/ledger";
import type { Asset, Block, BlockHeader, Transaction } from "@uniknode/protocol";

export type JsonObject = Record<string, unknown>;

export const blockData = (header: BlockHeader): JsonObject => ({
  version: header.version,
  timestamp: header.timestamp,
  height: header.height,
  previousBlockHex: header.previousBlockHex,
  previousBlock: header.previousBlock,
  numberOfTransactions: header.numberOfTransactions,
  totalAmount: `${header.totalAmount}`,
  totalFee: `${header.totalFee}`,
  reward: `${header.reward}`,
  payloadLength: header.payloadLength,
  payloadHash: header.payloadHash,
  generatorPublicKey: header.generatorPublicKey,
  blockSignature: header.blockSignature,
  idHex: header.idHex,
  id: header.id,
});

/** A block as it arrived: its transactions have no `blockId` and no `sequence` yet. */
export function receivedBlockData({ header, transactions }: Block): JsonObject {
  const { idHex, id, ...members } = blockData(header);
  return { ...members, transactions: transactions.map(({ data }) => transactionData(data)), idHex, id };
}

/** A transaction outside a block. */
export const transactionData = (transaction: Transaction): JsonObject => {
  const { asset } = transaction;
  return toJson(asset ? { ...transaction, asset: orderedAsset(asset) } : transaction) as JsonObject;
};

/** Returns the asset with its members in the order of the old node, which differs from that of the bytes in two types. */
function orderedAsset(asset: Asset): Asset {
  const { multiSignature, bridgechainRegistration } = asset;
  if (multiSignature) {
    const { publicKeys, ...others } = multiSignature;
    return { multiSignature: { publicKeys, ...others } };
  }
  if (!bridgechainRegistration?.bridgechainAssetRepository) return asset;
  const { bridgechainAssetRepository, ...others } = bridgechainRegistration;
  return { bridgechainRegistration: { ...others, bridgechainAssetRepository } };
}

/** A transaction in a block; `sequence` is its index there. */
export const confirmedTransactionData = (
  transaction: Transaction,
  blockId: string,
  sequence: number,
): JsonObject => ({ ...transactionData(transaction), blockId, sequence });

/** The wallet object of the HTTP API in base encoding (http-api.md 4.5). */
export function walletData({ address, publicKey, balance, nonce, attributes }: Wallet): JsonObject {
  const { delegate, secondPublicKey, vote, multiSignature, htlc } = attributes;
  return {
    address,
    ...(publicKey !== undefined && { publicKey }),
    ...(delegate && { username: delegate.username }),
    ...(secondPublicKey !== undefined && { secondPublicKey }),
    nonce: `${nonce}`,
    balance: `${balance}`,
    attributes: toJson(attributes),
    isDelegate: delegate !== undefined,
    isResigned: delegate?.resigned === true,
    ...(vote !== undefined && { vote }),
    ...(htlc && { lockedBalance: `${htlc.lockedBalance}` }),
    ...(multiSignature && { multiSignature: toJson(multiSignature) }),
  };
}

/** A delegate of a round: its wallet, its votes and the number of the round. */
export const roundDelegateData = (delegate: Wallet, round: number): JsonObject => ({
  ...walletData(delegate),
  votes: `${delegate.attributes.delegate?.voteBalance ?? 0n}`,
  round,
});

/** A copy without absent members: an event never shares an object with the state. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}`;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, toJson(member)]])),
  );
}
