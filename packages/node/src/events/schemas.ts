/** Schema of the content of each event: the source of the reference, and checked against events by tests. */
import { type TProperties, type TSchema, Type } from "../platform/json/schema.ts";

/** Patterns of texts whose form is known. */
export const SIGNED = "^-?\\d+$";
export const UNSIGNED = "^\\d+$";
export const HEX = "^([0-9a-f]{2})*$";

const closed = (members: TProperties, title: string) =>
  Type.Object(members, { title, additionalProperties: false });

const amount = (description: string) => Type.String({ pattern: UNSIGNED, description });
/** The wallet that funds the genesis block owes its amounts. */
const signedAmount = (description: string) => Type.String({ pattern: SIGNED, description });
const hex = (description: string) => Type.String({ pattern: HEX, description });
const integer = (description: string) => Type.Integer({ minimum: 0, description });
const text = (description: string) => Type.String({ description });
const { Optional: optional } = Type;

const publicKey = (of: string) => hex(`Public key of ${of}.`);
const address = text("Address.");
const blockId = text("Id of the block.");
const sequence = integer("Index in the block.");

const block = {
  version: integer("Version of the header."),
  timestamp: integer("Seconds since the network epoch."),
  height: integer("Height of the block; the genesis block has height 1."),
  previousBlockHex: hex("Id of the previous block, in hexadecimal."),
  previousBlock: text("Id of the previous block."),
  numberOfTransactions: integer("Number of transactions."),
  totalAmount: amount("Sum of the amounts, in the smallest unit."),
  totalFee: amount("Sum of the fees."),
  reward: amount("Reward of the delegate, in the smallest unit."),
  payloadLength: integer("32 bytes per transaction."),
  payloadHash: hex("SHA-256 over the ids of the transactions."),
  generatorPublicKey: publicKey("the delegate"),
  blockSignature: hex("Signature of the delegate."),
  idHex: hex("Id, in hexadecimal."),
  id: text("Id."),
};

const transaction = {
  version: integer("1 or 2."),
  network: integer("Address version byte of the network."),
  typeGroup: integer("Group of types: 1, or 2001 for uniks."),
  type: integer("Type within the group."),
  nonce: optional(amount("Nonce of the sender; version 2 only.")),
  timestamp: optional(integer("Seconds since the network epoch; version 1 only.")),
  senderPublicKey: publicKey("the sender"),
  fee: amount("In the smallest unit."),
  amount: amount("In the smallest unit."),
  recipientId: optional(text("Address of the recipient.")),
  vendorField: optional(text("Message of the sender.")),
  expiration: optional(integer("Height from which the transaction is invalid; 0 for never.")),
  asset: optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "Data of the transaction type." }),
  ),
  signature: optional(hex("Signature of the sender.")),
  secondSignature: optional(hex("Signature by the second key of the sender.")),
  signatures: optional(Type.Array(Type.String(), { description: "Signatures of a multi-signature wallet." })),
  id: hex("Id."),
};

const wallet = {
  address,
  publicKey: optional(publicKey("the wallet; absent until it is known")),
  username: optional(text("Username of the delegate.")),
  secondPublicKey: optional(hex("Second public key.")),
  nonce: amount("Number of transactions sent."),
  balance: signedAmount("In the smallest unit."),
  attributes: Type.Record(Type.String(), Type.Unknown(), {
    description: "Further state of the wallet: uniks, vote, locks, delegate.",
  }),
  isDelegate: Type.Boolean({ description: "Whether the wallet is registered as a delegate." }),
  isResigned: Type.Boolean({ description: "Whether the delegate resigned." }),
  vote: optional(publicKey("the delegate that the wallet votes for")),
  lockedBalance: optional(amount("Amount in hash-time locks, in the smallest unit.")),
  multiSignature: optional(
    closed(
      {
        min: integer("Number of required signatures."),
        publicKeys: Type.Array(Type.String(), { description: "Public keys of the signers." }),
      },
      "MultiSignature",
    ),
  ),
};

const Block = closed(block, "Block");
const Transaction = closed(transaction, "Transaction");
const ConfirmedTransaction = closed({ ...transaction, blockId, sequence }, "ConfirmedTransaction");
const Wallet = closed(wallet, "Wallet");
const RoundDelegate = closed(
  {
    ...wallet,
    votes: signedAmount("Sum of the balances of its voters."),
    round: integer("Number of the round."),
  },
  "RoundDelegate",
);

const of = (schema: TSchema, description: string): TSchema => ({ ...schema, description });
const WithDelegate = closed({ delegate: of(Wallet, "Wallet of the delegate.") }, "WithDelegate");
const Vote = closed(
  {
    delegate: text("Public key of the delegate, prefixed with `+` or `-`."),
    transaction: of(ConfirmedTransaction, "The vote transaction."),
  },
  "Vote",
);
const UnikFact = closed(
  {
    tokenId: hex("Id of the unik."),
    ownerId: text("Address of its owner after the transaction."),
    transaction: of(ConfirmedTransaction, "The transaction that caused the event."),
  },
  "UnikFact",
);
const Peer = closed(
  {
    ip: text("IP address of the peer."),
    port: integer("Port for peer connections."),
    ports: Type.Record(Type.String(), Type.Integer(), { description: "Port of each plugin; -1 if closed." }),
    version: optional(text("Version of its software.")),
    latency: optional(integer("Latency in milliseconds.")),
    plugins: Type.Record(Type.String(), Type.Unknown(), { description: "Plugins that the peer serves." }),
    state: closed(
      {
        height: integer("Height of its head."),
        forgingAllowed: Type.Boolean({ description: "Whether a slot is open." }),
        currentSlot: integer("Current slot of the peer."),
        header: optional(of(Block, "Header of its head.")),
      },
      "PeerState",
    ),
    lastPinged: text("Time of its last verification, ISO 8601, UTC."),
    verificationResult: closed(
      {
        myHeight: integer("Height of this node at that time."),
        hisHeight: integer("Height of the peer."),
        highestCommonHeight: integer("Height of the highest common block."),
      },
      "PeerVerification",
    ),
  },
  "Peer",
);

/** A content that is a list is never empty: a condition on a list holds if it holds for one element. */
const list = (row: TSchema) => Type.Array(row, { minItems: 1 });

/** Schemas by event name; events without content are absent. */
export const DATA_SCHEMAS: Readonly<Record<string, TSchema>> = {
  "block.applied": Block,
  "block.disregarded": closed({ ...block, transactions: Type.Array(Transaction) }, "ReceivedBlock"),
  "block.finalized": Block,
  "block.forged": Block,
  "block.received": closed({ ...block, transactions: Type.Array(Transaction) }, "ReceivedBlock"),
  "block.reverted": Block,
  "delegate.registered": ConfirmedTransaction,
  "delegate.resigned": ConfirmedTransaction,
  "forger.failed": closed({ error: text("Reason of the failure.") }, "Failure"),
  "forger.missing": WithDelegate,
  "forger.started": closed(
    { activeDelegates: Type.Array(Type.String(), { description: "Public keys of the delegates." }) },
    "Forger",
  ),
  "peer.added": Peer,
  "peer.removed": Peer,
  "round.created": list(RoundDelegate),
  "round.missed": WithDelegate,
  "state.started": Type.Literal(true),
  "transaction.applied": ConfirmedTransaction,
  "transaction.expired": Transaction,
  "transaction.forged": Transaction,
  "transaction.pool.added": list(Transaction),
  "transaction.pool.rejected": list(
    closed(
      {
        transaction: of(Transaction, "The refused transaction."),
        type: text("Error code."),
        message: text("Error message."),
      },
      "Rejection",
    ),
  ),
  "transaction.pool.removed": Transaction,
  "transaction.reverted": ConfirmedTransaction,
  "unik.disclosed": UnikFact,
  "unik.minted": UnikFact,
  "unik.transferred": UnikFact,
  "unik.updated": UnikFact,
  "wallet.created.cold": Wallet,
  "wallet.saved": Wallet,
  "wallet.unvote": Vote,
  "wallet.vote": Vote,
};
