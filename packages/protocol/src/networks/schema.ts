/**
 * JSON Schemas of the network files (networks.md 1 to 3). The `description` of a member describes
 * its requirement; it is used in error messages.
 */

type Schema = Record<string, unknown>;

/** An object with exactly these members. */
const record = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: "object",
  description: "an object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});

/** An object with members of any name. */
const map = (values: Schema): Schema => ({
  type: "object",
  description: "an object",
  additionalProperties: values,
});

const list = (items: Schema): Schema => ({ type: "array", description: "a list", items });

const text: Schema = { type: "string", description: "text" };
const flag: Schema = { type: "boolean", description: "true or false" };

const integer = (minimum: number, maximum: number): Schema => ({
  type: "integer",
  minimum,
  maximum,
  description: `an integer from ${minimum} to ${maximum}`,
});

const hex = (digits: number): Schema => ({
  type: "string",
  pattern: `^[0-9a-f]{${digits}}$`,
  description: `${digits} lower-case hexadecimal digits`,
});

const U32 = 0xffffffff;
/** Smallest units; above it a JSON number is no longer exact. */
const amount = integer(0, Number.MAX_SAFE_INTEGER);
const count = integer(0, U32);
const positive = integer(1, U32);
const blockId: Schema = {
  type: "string",
  pattern: "^([0-9]{1,20}|[0-9a-f]{64})$",
  description: "a block id: 1 to 20 decimal digits or 64 lower-case hexadecimal digits",
};

const byKind = (value: Schema): Schema => record({ individual: value, organization: value, network: value });

/** `network.json`. */
export const descriptionSchema: Schema = record(
  {
    name: { ...text, minLength: 1, description: "text, not empty" },
    messagePrefix: text,
    bip32: record({ public: count, private: count }),
    pubKeyHash: integer(1, 255),
    nethash: hex(64),
    wif: integer(0, 255),
    slip44: integer(0, 0x7fffffff),
    aip20: integer(0, 0x7fffffff),
    client: record({ token: text, symbol: text, explorer: text }),
  },
  {
    transactionsConfig: map(record({}, { enable: flag })),
    forgeFactory: record({ unikidWhiteList: list(hex(64)) }),
    foundation: record({ publicKey: hex(66) }),
    delegateWhitelistUniks: list(hex(64)),
    assumeValid: {
      type: "string",
      pattern: "^([2-9]|[1-9][0-9]{1,8}):[0-9a-f]{64}$",
      description: "HEIGHT:ID, a height of 2 or more and 64 lower-case hexadecimal digits",
    },
  },
);

/** `milestones.json` before the merge: the members that the merge needs. */
export const changesSchema: Schema = {
  type: "array",
  minItems: 1,
  description: "a list of at least one milestone",
  items: {
    type: "object",
    description: "an object",
    properties: { height: positive },
    required: ["height"],
  },
};

/** A merged milestone. */
export const milestoneSchema: Schema = record(
  {
    height: positive,
    reward: amount,
    activeDelegates: positive,
    blocktime: positive,
    epoch: {
      type: "string",
      pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z$",
      description: "a time like 2017-03-21T13:00:00.000Z",
    },
    block: record(
      { version: count, maxTransactions: positive, maxPayload: positive },
      { idFullSha256: flag, acceptExpiredTransactionTimestamps: flag },
    ),
    fees: record({ staticFees: map(amount) }),
    // The length of a vendor field is written in one byte.
    vendorFieldLength: integer(0, 255),
  },
  {
    multiPaymentLimit: positive,
    aip11: flag,
    aip36: flag,
    htlcEnabled: flag,
    ignoreInvalidSecondSignatureField: flag,
    ignoreExpiredTransactions: flag,
    p2p: record({ minimumVersions: list(text) }),
    voucherRewards: byKind(record({ forger: amount, sender: amount, foundation: amount })),
    nbDelegatesByType: byKind(count),
    voterMaximumWeight: {
      anyOf: [record({}, { individual: amount }), { const: false }],
      description: "false, or an object with an amount called individual",
    },
    urlCheckers: list(hex(64)),
    certifiedNFTsOnly: flag,
    disableArkLegacyVote: flag,
    unsTokenEcoV2: flag,
    unsTokenEcoV3: flag,
  },
);

/** `exceptions.json`. */
export const exceptionsSchema: Schema = record(
  {},
  {
    blocks: list(blockId),
    blocksTransactions: map(list(hex(64))),
    transactions: list(hex(64)),
    outlookTable: map(blockId),
    transactionIdFixTable: map(hex(64)),
    wrongTransactionOrder: map(list(hex(64))),
    negativeBalances: map(
      map({ type: "string", pattern: "^-?[0-9]+$", description: "an amount as decimal text" }),
    ),
  },
);
