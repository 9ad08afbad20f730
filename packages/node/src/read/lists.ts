/**
 * The lists of the API: the filters and orders of each. From these definitions follow the filters of the read model
 * (`filters.ts`), the parameters of requests and their validation (`http/requests/list-schemas.ts`), the OpenAPI document,
 * docs/reference/lists.md, and the types of the client (`npm run reference` writes both). The compiler requires a column or a
 * test for each filter.
 */
import { type ListDefinition, narrowed } from "./list-definition.ts";

export const BLOCKS = {
  path: "/blocks",
  searchPath: "/blocks/search",
  filters: {
    id: { kind: "blockId", query: true, search: "value" },
    version: { kind: "uint", query: true, search: "value" },
    timestamp: { kind: "uint", query: true, search: "interval" },
    previousBlock: {
      kind: "blockId",
      query: true,
      search: "value",
      note: 'Id of the parent; "0" for the genesis block.',
    },
    height: { kind: "positive", query: true, search: "interval" },
    numberOfTransactions: { kind: "uint", query: true, search: "interval" },
    totalAmount: { kind: "uint", query: true, search: "interval" },
    totalFee: { kind: "uint", query: true, search: "interval" },
    reward: { kind: "uint", query: true, search: "interval" },
    generatorPublicKey: { kind: "publicKey", query: true, search: "value" },
  },
  orders: ["height", "numberOfTransactions", "reward", "timestamp", "totalAmount", "totalFee", "version"],
  defaultOrder: { field: "height", direction: "desc" },
} as const satisfies ListDefinition;

export const DELEGATE_BLOCKS = {
  path: "/delegates/{id}/blocks",
  filters: {
    ...BLOCKS.filters,
    payloadLength: { kind: "uint", query: true },
    payloadHash: { kind: "hex", query: true },
    blockSignature: { kind: "hex", query: true },
  },
  orders: BLOCKS.orders,
  defaultOrder: BLOCKS.defaultOrder,
} as const satisfies ListDefinition;

export const TRANSACTIONS = {
  path: "/transactions",
  searchPath: "/transactions/search",
  filters: {
    id: { kind: "hex64", query: true, search: "value" },
    blockId: { kind: "blockId", query: true, search: "value" },
    version: { kind: "positive", query: true, search: "value" },
    timestamp: { kind: "uint", query: true, search: "interval" },
    amount: { kind: "uint", query: true, search: "interval" },
    fee: { kind: "uint", query: true, search: "interval" },
    vendorField: {
      kind: "vendorField",
      query: true,
      search: "value",
      note: "Substring of the text, case-sensitive; % and _ are ordinary characters.",
    },
    type: {
      kind: "uint",
      query: true,
      search: "value",
      note: "Type number; belongs to the core group if typeGroup is absent.",
    },
    typeGroup: { kind: "uint", query: true, search: "value" },
    nonce: { kind: "uint", query: true, search: "value" },
    senderPublicKey: { kind: "publicKey", query: true, search: "value" },
    senderId: { kind: "address", query: true, search: "value" },
    recipientId: {
      kind: "address",
      query: true,
      search: "value",
      note: "Alone, also finds payees of multi payments, and the address's own transactions that name no recipient.",
    },
    address: { kind: "addressList", query: true, note: "Senders, recipients and payees." },
    addresses: { kind: "addresses", search: "value", note: "Senders, recipients and payees." },
    asset: {
      kind: "members",
      search: "value",
      note: "Members that the asset must have with the same values, at any depth.",
    },
  },
  orders: ["amount", "fee", "nonce", "timestamp", "type", "typeGroup", "vendorField", "version"],
  defaultOrder: { field: "timestamp", direction: "desc" },
} as const satisfies ListDefinition;

export const VOTES = narrowed(TRANSACTIONS, "/votes", ["address", "type", "typeGroup", "nonce"]);

const ofBlock = narrowed(TRANSACTIONS, "/blocks/{id}/transactions", ["address", "typeGroup", "nonce"]);
export const BLOCK_TRANSACTIONS = {
  ...ofBlock,
  // Unlike other lists, this one accepts a version that no transaction has.
  filters: { ...ofBlock.filters, version: { kind: "uint", query: true } },
} as const satisfies ListDefinition;

export const WALLET_TRANSACTIONS = narrowed(TRANSACTIONS, "/wallets/{id}/transactions", [
  "address",
  "senderPublicKey",
  "senderId",
  "recipientId",
]);
export const SENT_TRANSACTIONS = narrowed(TRANSACTIONS, "/wallets/{id}/transactions/sent", [
  "address",
  "senderPublicKey",
  "senderId",
]);
export const RECEIVED_TRANSACTIONS = narrowed(TRANSACTIONS, "/wallets/{id}/transactions/received", [
  "address",
  "recipientId",
]);

export const WALLETS = {
  path: "/wallets",
  searchPath: "/wallets/search",
  filters: {
    address: { kind: "addressList", query: true, search: "value" },
    addresses: { kind: "addresses", search: "value" },
    publicKey: { kind: "publicKey", query: true, search: "value" },
    secondPublicKey: { kind: "publicKey", query: true, search: "value" },
    vote: { kind: "publicKey", query: true, search: "value" },
    username: { kind: "username", query: true, search: "value" },
    balance: { kind: "int", query: true, search: "interval" },
    voteBalance: { kind: "uint", query: true, search: "interval" },
    lockedBalance: { kind: "uint", search: "interval" },
    producedBlocks: { kind: "uint", query: true, search: "value" },
  },
  orders: [
    "address",
    "balance",
    "nonce",
    "publicKey",
    "secondPublicKey",
    "username",
    "vote",
    "lockedBalance",
    "voteBalance",
    "resigned",
  ],
  defaultOrder: { field: "balance", direction: "desc" },
} as const satisfies ListDefinition;

/** Always richest first: `orderBy` has no effect. */
export const RICHEST_WALLETS = narrowed(WALLETS, "/wallets/top", []);

export const VOTERS = {
  path: "/delegates/{id}/voters",
  // Voters cannot have negative balances, unlike wallets in general.
  filters: { ...WALLETS.filters, balance: { kind: "uint", query: true } },
  orders: WALLETS.orders,
  defaultOrder: WALLETS.defaultOrder,
} as const satisfies ListDefinition;

/** Only of nodes that record earlier states. */
export const BALANCES = {
  path: "/wallets/{id}/history",
  filters: {
    from: { kind: "positive", query: true, note: "Lowest height of the rows." },
    to: { kind: "positive", query: true, note: "Greatest height of the rows." },
  },
  orders: ["height"],
  defaultOrder: { field: "height", direction: "desc" },
} as const satisfies ListDefinition;

export const DELEGATES = {
  path: "/delegates",
  searchPath: "/delegates/search",
  filters: {
    type: { kind: "delegateState", query: true },
    address: { kind: "address", query: true, search: "value" },
    publicKey: { kind: "publicKey", query: true, search: "value" },
    secondPublicKey: { kind: "publicKey", query: true },
    vote: { kind: "publicKey", query: true },
    username: { kind: "username", query: true, search: "value", note: "Substring of the username." },
    name: {
      kind: "namePart",
      query: true,
      search: "value",
      note: "Substring of the displayed name or of the username, case-insensitive.",
    },
    usernames: { kind: "usernames", search: "value" },
    balance: { kind: "uint", query: true },
    approval: {
      kind: "percentage",
      search: "interval",
      note: "Percentage with a precision of two decimals.",
    },
    forgedFees: { kind: "uint", search: "interval" },
    forgedRewards: { kind: "uint", search: "interval" },
    forgedTotal: { kind: "uint", search: "interval" },
    voteBalance: { kind: "uint", query: true, search: "interval" },
    producedBlocks: { kind: "uint", query: true, search: "interval" },
  },
  orders: [
    "approval",
    "forgedFees",
    "forgedRewards",
    "forgedTotal",
    "producedBlocks",
    "publicKey",
    "rank",
    "resigned",
    "username",
    "voteBalance",
    "votes",
  ],
  defaultOrder: { field: "rank", direction: "asc" },
} as const satisfies ListDefinition;
export const LOCKS = {
  path: "/locks",
  searchPath: "/locks/search",
  filters: {
    recipientId: { kind: "address", query: true, search: "value" },
    senderPublicKey: { kind: "publicKey", query: true, search: "value" },
    lockId: { kind: "hex64", query: true, search: "value" },
    secretHash: { kind: "hex64", query: true, search: "value" },
    vendorField: { kind: "text", search: "value", note: "Exact text of the vendor field." },
    amount: { kind: "uint", query: true, search: "interval" },
    timestamp: { kind: "uint", search: "interval" },
    expirationValue: { kind: "uint", query: true, search: "interval" },
    expirationType: { kind: "expirationType", query: true, search: "value" },
    isExpired: { kind: "flag", query: true, search: "value" },
  },
  orders: [
    "amount",
    "expirationType",
    "expirationValue",
    "isExpired",
    "lockId",
    "recipientId",
    "secretHash",
    "senderPublicKey",
    "timestamp",
    "vendorField",
  ],
  defaultOrder: { field: "lockId", direction: "asc" },
} as const satisfies ListDefinition;

export const WALLET_LOCKS = {
  path: "/wallets/{id}/locks",
  filters: { isExpired: LOCKS.filters.isExpired },
  orders: LOCKS.orders,
  defaultOrder: LOCKS.defaultOrder,
} as const satisfies ListDefinition;
export const ENTITIES = {
  path: "/entities",
  searchPath: "/entities/search",
  filters: {
    publicKey: { kind: "publicKey", query: true, search: "value" },
    type: { kind: "int", query: true, search: "value" },
    subType: { kind: "int", query: true, search: "value" },
    name: { kind: "entityName", query: true, search: "value", note: "Substring of the name." },
    isResigned: { kind: "flag", query: true, search: "value" },
  },
  orders: ["address", "id", "isResigned", "publicKey", "subType", "type"],
  defaultOrder: { field: "id", direction: "asc" },
} as const satisfies ListDefinition;
/** `/nfts` has the same list. */
export const UNIKS = {
  path: "/uniks",
  searchPath: "/uniks/search",
  filters: {
    id: { kind: "ids", search: "value" },
    ownerId: { kind: "address", search: "value" },
  },
  orders: ["id", "ownerId"],
  defaultOrder: { field: "id", direction: "asc" },
} as const satisfies ListDefinition;
export const PEERS = {
  path: "/peers",
  filters: {
    version: { kind: "versionRange", query: true },
    ip: { kind: "ip", query: true, isIgnored: true },
  },
  orders: ["height", "ip", "latency", "version"],
  defaultOrder: { field: "latency", direction: "asc" },
} as const satisfies ListDefinition;

/** All lists that have filters. */
export const LISTS: readonly ListDefinition[] = [
  BLOCKS,
  DELEGATE_BLOCKS,
  TRANSACTIONS,
  VOTES,
  BLOCK_TRANSACTIONS,
  WALLET_TRANSACTIONS,
  SENT_TRANSACTIONS,
  RECEIVED_TRANSACTIONS,
  WALLETS,
  RICHEST_WALLETS,
  VOTERS,
  BALANCES,
  DELEGATES,
  LOCKS,
  WALLET_LOCKS,
  ENTITIES,
  UNIKS,
  PEERS,
];
