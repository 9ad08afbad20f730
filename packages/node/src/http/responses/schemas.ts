/**
 * Schemas of transaction types as `GET /transactions/schemas` publishes them (http-api.md 6.4, transactions.md
 * 8). Clients expect the old network's vocabulary: `$ref` names its shared
 * schemas, `bignumber` and `transactionType` its keywords. This node does not validate with these schemas.
 */
import { TYPE_GROUPS, transactionKey } from "@uniknode/protocol";

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

const shared = ($ref: string): Schema => ({ $ref });
const sized = (minLength: number, maxLength: number, $ref: string): Schema => ({
  allOf: [{ minLength, maxLength }, { $ref }],
});
const record = (properties: Members, rules: Schema = { required: Object.keys(properties) }): Schema => ({
  type: "object",
  properties,
  ...rules,
});
const list = (items: Schema, rules: Schema): Schema => ({
  type: "array",
  additionalItems: false,
  ...rules,
  items,
});
const amount = (minimum: number, maximum?: number): Schema => ({
  bignumber: { minimum, bypassGenesis: true, ...(maximum !== undefined && { maximum }) },
});

const integer: Schema = { type: "integer", minimum: 0 };
const id = shared("transactionId");
const publicKey = shared("publicKey");
const address = shared("address");
const hash = sized(64, 64, "hex");
const vendorField: Schema = { anyOf: [{ type: "null" }, { type: "string", format: "vendorField" }] };

const none = amount(0, 0);
/** Members that replace the common ones. */
const unpaid: Members = { amount: none };
const free: Members = { amount: none, fee: none };
const anyFee: Members = { fee: amount(0) };

/** Returns the schema of an asset whose members are all required. */
const asset = (properties: Members, rules?: Schema): Members => ({ asset: record(properties, rules) });
/** Returns the schema of an asset with exactly the given members. */
const strictAsset = (properties: Members): Members =>
  asset(properties, { required: Object.keys(properties), additionalProperties: false });

const signature = [{ minLength: 130, maxLength: 130 }, shared("alphanumeric")];
const signatures = (bounds: Schema, allOf: readonly Schema[]): Schema =>
  list({ allOf }, { ...bounds, uniqueItems: true });

const common: Members = {
  id: { anyOf: [id, { type: "null" }] },
  version: { enum: [1, 2] },
  network: shared("networkByte"),
  timestamp: integer,
  nonce: { bignumber: { minimum: 0 } },
  typeGroup: integer,
  amount: amount(1),
  fee: amount(1),
  senderPublicKey: publicKey,
  signature: shared("alphanumeric"),
  secondSignature: shared("alphanumeric"),
  signSignature: shared("alphanumeric"),
  signatures: signatures({ minItems: 1, maxItems: 16 }, signature),
};

const business = {
  name: shared("genericName"),
  website: shared("uri"),
  vat: { type: "string", minLength: 8, maxLength: 15, $ref: "alphanumeric" },
  repository: shared("uri"),
};

const bridgechain = {
  seedNodes: {
    type: "array",
    minItems: 1,
    maxItems: 10,
    uniqueItems: true,
    items: { type: "string", format: "peer" },
  },
  ports: {
    type: "object",
    minProperties: 1,
    maxProperties: 10,
    required: ["@arkecosystem/core-api"],
    additionalProperties: false,
    patternProperties: { "^.{1,214}$": { type: "integer", minimum: 0, maximum: 65535 } },
  },
  bridgechainRepository: shared("uri"),
  bridgechainAssetRepository: shared("uri"),
};

/** Requires at least one of the members. */
const someOf = (members: readonly string[]): Schema => ({
  anyOf: members.map((name) => ({ required: [name] })),
});

const byte: Schema = { type: "integer", minimum: 0, maximum: 255 };

const entityData = {
  name: { type: "string", minLength: 1, maxLength: 40, pattern: "^[a-zA-Z0-9_!@$&.-]+$" },
  ipfsData: { allOf: [shared("base58"), { type: "string", minLength: 1, maxLength: 128 }] },
};

/** Returns the schema of an entity's asset for an action: 0 registers, 1 updates, 2 resigns. */
const entityAction = (action: number, required: readonly string[], data: Schema): Schema => ({
  required: ["type", "subType", "action", "data", ...required],
  additionalProperties: false,
  properties: {
    type: byte,
    subType: byte,
    registrationId: id,
    action: { const: action },
    data: { type: "object", additionalProperties: false, ...data },
  },
});

const nft = (...required: readonly string[]): Schema => {
  const token = {
    tokenId: { $id: "tokenId", allOf: [shared("hex"), { minLength: 64, maxLength: 64 }] },
    properties: {
      type: "object",
      minProperties: 1,
      maxProperties: 255,
      patternProperties: { "^.*$": { maxLength: 255 } },
      propertyNames: { maxLength: 255 },
    },
  };
  return { type: "object", patternProperties: { "^.*$": record(token, { required }) } };
};

const signed = (...required: readonly string[]): Schema =>
  record({ payload: { type: "object", required }, signature: shared("hex") });

const certified = (...required: readonly string[]): Members => ({
  ...anyFee,
  amount: amount(0),
  recipientId: address,
  ...strictAsset({
    nft: nft(...required),
    certification: signed("iss", "sub", "iat", "cost"),
    demand: signed("iss", "sub", "iat", "cryptoAccountAddress"),
  }),
});

const votes: Members = {
  ...unpaid,
  recipientId: address,
  ...asset({ votes: list(shared("walletVote"), { minItems: 1, maxItems: 1 }) }),
};

/** Additional members of each type, by its key. */
const ofType: Readonly<Record<string, Members>> = {
  transfer: { vendorField, recipientId: address, expiration: integer },
  secondSignature: {
    ...unpaid,
    secondSignature: { $ref: "alphanumeric", type: "null" },
    ...asset({ signature: record({ publicKey }) }),
  },
  delegateRegistration: {
    ...unpaid,
    ...asset({ delegate: record({ username: shared("delegateUsername") }) }),
  },
  vote: votes,
  multiSignature: {
    ...unpaid,
    signatures: signatures(
      {
        minItems: { $data: "1/asset/multiSignature/min" },
        maxItems: { $data: "1/asset/multiSignature/publicKeys/length" },
      },
      [...signature, ...signature],
    ),
    ...asset({
      multiSignature: record({
        min: { type: "integer", minimum: 1, maximum: { $data: "1/publicKeys/length" } },
        publicKeys: list(publicKey, { minItems: 1, maxItems: 16, uniqueItems: true }),
      }),
    }),
  },
  ipfs: { ...unpaid, ...asset({ ipfs: sized(2, 90, "base58") }) },
  multiPayment: {
    ...unpaid,
    vendorField,
    ...asset({
      payments: list(record({ amount: { bignumber: { minimum: 1 } }, recipientId: address }), {
        minItems: 2,
        uniqueItems: false,
      }),
    }),
  },
  delegateResignation: unpaid,
  htlcLock: {
    vendorField,
    recipientId: address,
    ...asset({
      lock: record({ secretHash: hash, expiration: record({ type: { enum: [1, 2] }, value: integer }) }),
    }),
  },
  htlcClaim: { ...free, ...asset({ claim: record({ lockTransactionId: id, unlockSecret: hash }) }) },
  htlcRefund: { ...free, ...asset({ refund: record({ lockTransactionId: id }) }) },
  businessRegistration: {
    ...unpaid,
    ...anyFee,
    ...asset({ businessRegistration: record(business, { required: ["name", "website"] }) }),
  },
  businessResignation: { ...unpaid, ...anyFee },
  businessUpdate: {
    ...unpaid,
    ...anyFee,
    ...strictAsset({ businessUpdate: record(business, someOf(Object.keys(business))) }),
  },
  bridgechainRegistration: {
    ...unpaid,
    ...anyFee,
    ...strictAsset({
      bridgechainRegistration: record(
        { name: shared("genericName"), genesisHash: id, ...bridgechain },
        {
          required: ["name", "seedNodes", "genesisHash", "bridgechainRepository", "ports"],
          additionalProperties: false,
        },
      ),
    }),
  },
  bridgechainResignation: {
    ...unpaid,
    ...anyFee,
    ...asset({ bridgechainResignation: record({ bridgechainId: id }) }),
  },
  bridgechainUpdate: {
    ...unpaid,
    ...anyFee,
    ...asset({
      bridgechainUpdate: record(
        { bridgechainId: id, ...bridgechain },
        {
          required: ["bridgechainId"],
          ...someOf(["seedNodes", "ports", "bridgechainRepository", "bridgechainAssetRepository"]),
        },
      ),
    }),
  },
  entity: {
    ...unpaid,
    ...anyFee,
    asset: {
      type: "object",
      anyOf: [
        entityAction(0, [], { properties: entityData, required: ["name"] }),
        entityAction(2, ["registrationId"], { maxProperties: 0 }),
        entityAction(1, ["registrationId"], { properties: { ipfsData: entityData.ipfsData } }),
      ],
    },
  },
  NftMint: { ...unpaid, ...anyFee, ...strictAsset({ nft: nft("tokenId") }) },
  NftUpdate: { ...unpaid, ...anyFee, ...strictAsset({ nft: nft("tokenId", "properties") }) },
  NftTransfer: { ...unpaid, ...anyFee, recipientId: address, ...strictAsset({ nft: nft("tokenId") }) },
  UnsDiscloseExplicit: {
    ...unpaid,
    ...anyFee,
    ...strictAsset({
      "disclose-demand": record({ signature: shared("hex") }, { required: ["payload", "signature"] }),
      "disclose-demand-certification": signed("iss", "sub", "iat"),
    }),
  },
  UnsDelegateRegister: {
    ...unpaid,
    ...asset({ delegate: record({ username: { $ref: "hex", minLength: 64, maxLength: 64 } }) }),
  },
  UnsDelegateResign: unpaid,
  UnsCertifiedNftMint: certified("tokenId"),
  UnsCertifiedNftUpdate: certified("tokenId", "properties"),
  UnsVote: votes,
  UnsCertifiedNftTransfer: certified("tokenId"),
};

/** Returns the members of a type's schema. */
export const publishedSchema = (typeGroup: number, type: number): Members => ({
  ...common,
  ...(typeGroup !== TYPE_GROUPS.core && { typeGroup: { ...integer, const: typeGroup } }),
  type: { transactionType: type },
  ...ofType[transactionKey(typeGroup, type)],
});
