/** The consensus state as tables of immutable records (state.md 2 and 3). */
import type { BridgechainAsset, BusinessAsset, HtlcExpiration } from "@uniknode/protocol";

/** The delegate attributes of a wallet (state.md 2.1). */
export type Delegate = {
  readonly username: string;
  /** 1 individual, 2 organization, 3 network; absent for delegates of core registrations. */
  readonly type?: number;
  readonly voteBalance: bigint;
  /** Present only while `voterMaximumWeight` is in force. */
  readonly weightedVoteBalance?: bigint;
  readonly forgedFees: bigint;
  readonly forgedRewards: bigint;
  readonly producedBlocks: number;
  readonly lastBlock?: { readonly id: string; readonly height: number; readonly timestamp: number };
  /** Last round in which it was active; 0 before the first. */
  readonly round: number;
  readonly rank?: number;
  readonly resigned?: true;
};

/** An open hash-time-locked amount. */
export type Lock = {
  readonly amount: bigint;
  readonly recipientId: string;
  /** Timestamp of the block with the lock; absent while it is pending. */
  readonly timestamp?: number;
  readonly vendorField?: string;
  readonly secretHash: string;
  readonly expiration: HtlcExpiration;
};

export type Bridgechain = { readonly bridgechainAsset: BridgechainAsset; readonly resigned?: boolean };

export type Entity = {
  readonly type: number;
  readonly subType: number;
  readonly data: { readonly name?: string; readonly ipfsData?: string };
  readonly resigned?: true;
};

/** The records of one kind that a wallet holds, in order of acquisition (`holdings.ts`). */
export type Collection = {
  readonly size: number;
  /** Ids; absent if the collection is empty. */
  readonly first?: string;
  readonly last?: string;
  /** Bridgechains that have not resigned. */
  readonly active?: number;
};

/** Values of holdings by kind. */
export type Holdings = {
  /** Key: token id. The type is that at acquisition. */
  tokens: { readonly type: number };
  /** Key: IPFS hash. */
  ipfs: true;
  /** Key: lock id. */
  locks: Lock;
  /** Key: genesis hash. */
  bridgechains: Bridgechain;
  /** Genesis hash by name in lower case; without links. */
  bridgechainNames: string;
  /** Key: registration id. */
  entities: Entity;
};
export type HoldingKind = keyof Holdings;

export type Holding = {
  readonly value: Holdings[HoldingKind];
  /** Ids of the neighbours in order of acquisition. */
  readonly previous?: string;
  readonly next?: string;
};

/** Optional parts of a wallet (state.md 2). */
export type Attributes = {
  readonly secondPublicKey?: string;
  /** Public key of the delegate voted for. */
  readonly vote?: string;
  readonly multiSignature?: {
    readonly min: number;
    readonly publicKeys: readonly string[];
    readonly legacy?: true;
  };
  readonly delegate?: Delegate;
  /** Absent if the wallet holds no token. */
  readonly tokens?: Collection;
  readonly ipfs?: { readonly hashes: Collection };
  readonly htlc?: { readonly locks: Collection; readonly lockedBalance: bigint };
  readonly business?: {
    readonly businessAsset: BusinessAsset;
    readonly resigned?: true;
    readonly bridgechains?: Collection;
  };
  readonly entities?: Collection;
};

export type Wallet = {
  readonly address: string;
  /** Present once the wallet was looked up by it. */
  readonly publicKey?: string;
  /** Smallest unit; may be negative in the cases of state.md. */
  readonly balance: bigint;
  /** Number of transactions sent. */
  readonly nonce: bigint;
  readonly attributes: Attributes;
};

/** A record of the token store (state.md 3.1). */
export type Token = {
  readonly id: string;
  /** Address of the holder. */
  readonly ownerId: string;
  /** Id of the transaction that minted it. */
  readonly firstTransaction: string;
  /** Id of its last mint, update or transfer. Disclosures and delegate transactions change it too, but do not count. */
  readonly lastTransaction: string;
};

/** A round as it was opened (consensus.md 5); never recomputed. */
export type Round = {
  readonly round: number;
  /** First height of the round. */
  readonly height: number;
  /** Active delegates by rank, with the vote balance stored for each. */
  readonly delegates: readonly { readonly publicKey: string; readonly voteBalance: bigint }[];
  /** Public keys in forging order: slot s belongs to `order[s mod n]`. */
  readonly order: readonly string[];
};

/** Record type by table. Keys are text. */
export type Tables = {
  /** Wallets by address. */
  wallets: Wallet;
  /** Tokens by token id. */
  tokens: Token;
  /** Property value by `propertyKey(tokenId, key)`. */
  properties: string;
  /** Address by delegate username, resigned delegates included. */
  usernames: string;
  /** Address of the owner by lock id. */
  locks: string;
  /** Address by IPFS hash. */
  ipfs: string;
  /** Registration id by `entityKey(type, name)`. */
  entities: string;
  /** Id of the minting transaction by `voucherKey(name, voucher)`; written at the end of a block (trap A3). */
  vouchers: string;
  /** Id of the disclosing transaction by certification subject; written at the end of a block (trap A3). */
  disclosures: string;
  /** Rounds by decimal round number. */
  rounds: Round;
  /** Holdings of wallets by `holdingKey(address, kind, id)`. */
  holdings: Holding;
};

export type TableName = keyof Tables;

export const TABLE_NAMES: readonly TableName[] = [
  "wallets",
  "tokens",
  "properties",
  "usernames",
  "locks",
  "ipfs",
  "entities",
  "vouchers",
  "disclosures",
  "rounds",
  "holdings",
];

/** Key of a property: the token id has 64 characters, so the rest is the property key. */
export const propertyKey = (tokenId: string, key: string): string => `${tokenId}/${key}`;
/** Key of a voucher: both texts are arbitrary, so the length of the first separates them. */
export const voucherKey = (nftName: string, voucher: string): string =>
  `${nftName.length}/${nftName}/${voucher}`;
export const entityKey = (type: number, name: string): string => `${type}/${name.toLowerCase()}`;

/** The ledger's read access to committed state, synchronous. Its records are immutable. */
export type StateReader = {
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined;
  /** Addresses of all registered delegates, resigned ones included, in any order. */
  delegates(): Iterable<string>;
  /** Addresses of the wallets whose vote is this public key, in any order. */
  voters(publicKey: string): Iterable<string>;
  /** Keys and values of the properties of a token, in any order. */
  properties(tokenId: string): Iterable<readonly [key: string, value: string]>;
};

/** One written record: `before` is the value that the reader has. `undefined`: no record. */
export type Change<T extends TableName = TableName> = {
  [N in T]: {
    readonly table: N;
    readonly key: string;
    readonly before: Tables[N] | undefined;
    readonly after: Tables[N] | undefined;
  };
}[T];
