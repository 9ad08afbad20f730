/** Schema of the content of each event: the source of the reference, and checked against events by tests. */
import { type TProperties, type TSchema, Type } from "../platform/json/schema.ts";

const closed = (members: TProperties, title: string) =>
  Type.Object(members, { title, additionalProperties: false });

const amount = (description: string) => Type.String({ pattern: "^-?\\d+$", description });
const hex = (description: string) => Type.String({ pattern: "^([0-9a-f]{2})*$", description });
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
  height: integer("Place in the chain, from 1."),
  previousBlockHex: hex("Id of the block below, as hexadecimal digits."),
  previousBlock: text("Id of the block below."),
  numberOfTransactions: integer("Transactions in it."),
  totalAmount: amount("Sum of the amounts, in the smallest unit."),
  totalFee: amount("Sum of the fees."),
  reward: amount("What its delegate got."),
  payloadLength: integer("32 for each transaction."),
  payloadHash: hex("SHA-256 over the ids of the transactions."),
  generatorPublicKey: publicKey("the delegate"),
  blockSignature: hex("Signature of the delegate."),
  idHex: hex("Id, as hexadecimal digits."),
  id: text("Id."),
};

const transaction = {
  version: integer("1 or 2."),
  network: integer("Address version byte of the network."),
  typeGroup: integer("Group of types: 1, or 2001 for uniks."),
  type: integer("Type within the group."),
  nonce: optional(amount("Number among those of the sender; version 2.")),
  timestamp: optional(integer("Seconds since the network epoch; version 1.")),
  senderPublicKey: publicKey("the sender"),
  fee: amount("In the smallest unit."),
  amount: amount("In the smallest unit."),
  recipientId: optional(text("Address of the recipient.")),
  vendorField: optional(text("Text of the sender.")),
  expiration: optional(integer("Height from which on it is void; 0 for never.")),
  asset: optional(Type.Record(Type.String(), Type.Unknown(), { description: "What its type is about." })),
  signature: optional(hex("Signature of the sender.")),
  secondSignature: optional(hex("By the second key.")),
  signatures: optional(Type.Array(Type.String(), { description: "Those of a multi-signature wallet." })),
  id: hex("Id."),
};

const wallet = {
  address,
  publicKey: optional(publicKey("its owner, once it is known")),
  username: optional(text("Name as a delegate.")),
  secondPublicKey: optional(hex("Second public key.")),
  nonce: amount("Transactions sent."),
  balance: amount("In the smallest unit."),
  attributes: Type.Record(Type.String(), Type.Unknown(), {
    description: "What else is known of it: uniks, votes, locks, the delegate.",
  }),
  isDelegate: Type.Boolean({ description: "Whether it is registered as a delegate." }),
  isResigned: Type.Boolean({ description: "Whether the delegate resigned." }),
  vote: optional(publicKey("the delegate it votes for")),
  lockedBalance: optional(amount("In time locks, in the smallest unit.")),
  multiSignature: optional(
    closed(
      {
        min: integer("Signatures needed."),
        publicKeys: Type.Array(Type.String(), { description: "Whose." }),
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
    votes: amount("Sum of the balances that vote for it."),
    round: integer("Number of the round."),
  },
  "RoundDelegate",
);

const of = (schema: TSchema, description: string): TSchema => ({ ...schema, description });
const WithDelegate = closed({ delegate: of(Wallet, "Its wallet.") }, "WithDelegate");
const Vote = closed(
  {
    delegate: text("Public key of the delegate, behind `+` or `-`."),
    transaction: of(ConfirmedTransaction, "The vote."),
  },
  "Vote",
);
const UnikFact = closed(
  {
    tokenId: hex("Id of the unik."),
    ownerId: text("Address of its owner after the transaction."),
    transaction: of(ConfirmedTransaction, "What did it."),
  },
  "UnikFact",
);
const Peer = closed(
  {
    ip: text("Its address."),
    port: integer("Port at which it speaks with peers."),
    ports: Type.Record(Type.String(), Type.Integer(), { description: "Port by plugin; -1 is closed." }),
    version: optional(text("Of its software.")),
    latency: optional(integer("Milliseconds.")),
    plugins: Type.Record(Type.String(), Type.Unknown(), { description: "What it serves." }),
    state: closed(
      {
        height: integer("Of its head."),
        forgingAllowed: Type.Boolean({ description: "Whether a slot is open." }),
        currentSlot: integer("Slot in which it is."),
        header: optional(of(Block, "Its head.")),
      },
      "PeerState",
    ),
    lastPinged: text("Time of its last verification, ISO 8601, UTC."),
    verificationResult: closed(
      {
        myHeight: integer("Of this node, then."),
        hisHeight: integer("Of the peer."),
        highestCommonHeight: integer("Of the highest block that both had."),
      },
      "PeerVerification",
    ),
  },
  "Peer",
);

/** Schemas by event name; events without content are absent. */
export const DATA_SCHEMAS: Readonly<Record<string, TSchema>> = {
  "block.applied": Block,
  "block.disregarded": closed({ ...block, transactions: Type.Array(Transaction) }, "ReceivedBlock"),
  "block.forged": Block,
  "block.received": closed({ ...block, transactions: Type.Array(Transaction) }, "ReceivedBlock"),
  "block.reverted": Block,
  "delegate.registered": ConfirmedTransaction,
  "delegate.resigned": ConfirmedTransaction,
  "forger.failed": closed({ error: text("What went wrong.") }, "Failure"),
  "forger.missing": WithDelegate,
  "forger.started": closed(
    { activeDelegates: Type.Array(Type.String(), { description: "Public keys that it forges with." }) },
    "Forger",
  ),
  "peer.added": Peer,
  "peer.removed": Peer,
  "round.created": Type.Array(RoundDelegate),
  "round.missed": WithDelegate,
  "state.diverged": closed(
    {
      url: text("Of the other node."),
      size: integer("Leaves of the trees that were compared."),
      root: hex("Root of the tree of this node."),
      otherRoot: hex("Root of the tree of the other node."),
    },
    "Divergence",
  ),
  "state.started": Type.Literal(true),
  "transaction.applied": ConfirmedTransaction,
  "transaction.expired": Transaction,
  "transaction.forged": Transaction,
  "transaction.pool.added": Type.Array(Transaction),
  "transaction.pool.rejected": Type.Array(
    closed(
      {
        transaction: of(Transaction, "What was refused."),
        type: text("Code of the reason."),
        message: text("The reason."),
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
