/** Transactions as values (transactions.md 2). Hexadecimal text is lower case, amounts are `bigint`. */

/** An NFT asset: token by name; only the first name is encoded (transactions.md 6.5). */
export type NftAsset = Record<string, NftToken>;

/** `null` as a value deletes the property. The order of members follows transactions.md 11. */
export type NftToken = { tokenId: string; properties?: Record<string, string | null> };

/** Demand of a certified NFT transaction (transactions.md 6.6). `iat` is in seconds. */
export type Demand = {
  payload: { iss: string; sub: string; iat: number; cryptoAccountAddress: string };
  signature: string;
};

/** Certification of a certified NFT transaction (transactions.md 6.6). */
export type Certification = {
  payload: { sub: string; iss: string; iat: number; cost: bigint };
  signature: string;
};

/** Demand of a disclosure (transactions.md 6.7). `type` is 1 individual, 2 organization, 3 network. */
export type DiscloseDemand = {
  payload: { explicitValue: string[]; type: number; iss: string; sub: string; iat: number };
  signature: string;
};

/** Certification of a disclosure (transactions.md 6.7). */
export type DiscloseCertification = {
  payload: { sub: string; iss: string; iat: number };
  signature: string;
};

/** `type` 1: network time in seconds; 2: height. */
export type HtlcExpiration = { type: number; value: number };

export type BusinessAsset = { name: string; website: string; vat?: string; repository?: string };

export type BridgechainAsset = {
  name: string;
  seedNodes: string[];
  genesisHash: string;
  bridgechainRepository: string;
  bridgechainAssetRepository?: string;
  ports: Record<string, number>;
};

/** The asset members of all types; the file of each type defines its own. */
export type Asset = {
  signature?: { publicKey: string };
  delegate?: { username: string };
  votes?: string[];
  multiSignature?: { min: number; publicKeys: string[] };
  /** Version 1. `lifetime` is in hours; a key is a `+` and 66 digits. */
  multiSignatureLegacy?: { min: number; lifetime: number; keysgroup: string[] };
  ipfs?: string;
  payments?: { amount: bigint; recipientId: string }[];
  lock?: { secretHash: string; expiration: HtlcExpiration };
  claim?: { lockTransactionId: string; unlockSecret: string };
  refund?: { lockTransactionId: string };
  businessRegistration?: BusinessAsset;
  businessUpdate?: Partial<BusinessAsset>;
  bridgechainRegistration?: BridgechainAsset;
  bridgechainResignation?: { bridgechainId: string };
  bridgechainUpdate?: Partial<Omit<BridgechainAsset, "name" | "genesisHash">> & { bridgechainId: string };
  /** Entity (2/6). */
  type?: number;
  subType?: number;
  action?: number;
  registrationId?: string;
  data?: { name?: string; ipfsData?: string };
  nft?: NftAsset;
  demand?: Demand;
  certification?: Certification;
  "disclose-demand"?: DiscloseDemand;
  "disclose-demand-certification"?: DiscloseCertification;
};

/** A decoded transaction: the members of its canonical bytes, and their id. */
export type Transaction = {
  version: number;
  /** Address version byte of the network. */
  network: number;
  typeGroup: number;
  type: number;
  /** Version 2. */
  nonce?: bigint;
  /** Version 1: seconds since the network epoch. */
  timestamp?: number;
  senderPublicKey: string;
  fee: bigint;
  amount: bigint;
  recipientId?: string;
  vendorField?: string;
  /** Transfers only: height; 0 is never. */
  expiration?: number;
  asset?: Asset;
  signature?: string;
  secondSignature?: string;
  /** One index byte and 64 bytes each. */
  signatures?: string[];
  /** SHA-256 of the canonical bytes (transactions.md 7). */
  id: string;
};

/** A transaction without its id: before it is complete, and as input of the encoder. */
export type TransactionBody = Omit<Transaction, "id">;

/** A transaction with its canonical bytes and the result of its stateless verification (transactions.md 10). */
export type SealedTransaction = {
  readonly data: Transaction;
  /** Canonical encoding with all signatures. */
  readonly bytes: Uint8Array;
  readonly isVerified: boolean;
};
