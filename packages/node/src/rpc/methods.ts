/**
 * All methods: `blocks.*` and `wallets.*`, which show the chain as the API does, and store keys encrypted with a
 * password; and `transactions.*`: transactions are created here, stored under their ids, and sent by a separate call.
 */
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  encodeWif,
  isAddress,
  isTypeActive,
  type KeyPair,
  keysFromPassphrase,
  matchesBatchSchema,
  signTransaction,
  type TransactionBody,
  TYPE_GROUPS,
  transactionKey,
  transactionToJson,
} from "@uniknode/protocol";
import { type Static, Type } from "../platform/json/schema.ts";
import { post } from "../submission/send.ts";
import { prepareSender, SendError, type SenderEnvelope } from "../submission/sender.ts";
import { type Method, method, type RpcContext } from "./define-method.ts";
import { createKeys, findKeys } from "./keys.ts";
import { invalidParams, ofStatus, type RpcError } from "./rpc-error.ts";

const blockId = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{64})$" });
const offset = Type.Optional(Type.Integer({ minimum: 0 }));

const blockMethods: Readonly<Record<string, Method>> = {
  "blocks.info": method(Type.Object({ id: blockId }), async (params, { client }) => {
    return (await client.blocks.get(params.id)).data;
  }),

  "blocks.latest": method(Type.Object({}), async (_params, { client }) => (await client.blocks.last()).data),

  "blocks.transactions": method(
    Type.Object({ id: blockId, offset }),
    async ({ id, offset = 0 }, { client }) => {
      const list = client.blocks.transactions(id, { orderBy: "timestamp:desc" });
      const { meta, data } = await list.page({ offset });
      return { count: meta.totalCount, data };
    },
  ),
};

const address = Type.String({ pattern: "^[0-9A-Za-z]{34}$" });
/**
 * `bip38` is the password; `userId` is hexadecimal: a name under which keys are stored, and a part of their
 * password.
 */
const keeper = {
  bip38: Type.String({ minLength: 1, maxLength: 1_024 }),
  userId: Type.String({ pattern: "^([0-9a-fA-F]{2})+$", maxLength: 512 }),
};

const walletMethods: Readonly<Record<string, Method>> = {
  "wallets.create": method(
    Type.Object({ passphrase: Type.String({ minLength: 1 }) }),
    async ({ passphrase }, context) => identityOf(keysFromPassphrase(passphrase).publicKey, context),
  ),

  "wallets.info": method(Type.Object({ address }), async ({ address }, { client }) => {
    return (await client.wallets.get(address)).data;
  }),

  "wallets.transactions": method(
    Type.Object({ address, offset }),
    async ({ address, offset = 0 }, { client }) => {
      const list = client.wallets.transactions(address, { orderBy: "timestamp:desc" });
      const { meta, data } = await list.page({ offset });
      if (meta.totalCount === 0) throw ofStatus(404);
      return { count: meta.totalCount, data };
    },
  ),

  "wallets.bip38.create": method(Type.Object(keeper), async (params, context) =>
    walletOf(await createKeys(params, context), context),
  ),

  "wallets.bip38.info": method(Type.Object(keeper), async (params, context) =>
    walletOf(await findKeys(params, context), context),
  ),
};

function walletOf({ publicKey, privateKey }: KeyPair, context: RpcContext) {
  const { wif } = context.network.description;
  return { ...identityOf(publicKey, context), wif: encodeWif(privateKey, wif) };
}

function identityOf(publicKey: Uint8Array, { network }: RpcContext) {
  const text = bytesToHex(publicKey);
  return { publicKey: text, address: addressFromPublicKey(text, network.description.pubKeyHash) };
}

const transactionId = Type.String({ pattern: "^[0-9a-fA-F]{64}$" });
const publicKey = Type.String({ pattern: "^[0-9a-fA-F]{66}$" });
const passphrase = Type.String({ minLength: 1 });
/** Fee in the smallest unit; defaults to the average of the type in the last 30 days. */
const fee = Type.Optional(Type.String({ pattern: "^[0-9]{1,19}$" }));
const payment = {
  /** Amount in the smallest unit. */
  amount: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  recipientId: Type.String({ pattern: "^[0-9A-Za-z]{34}$" }),
  vendorField: Type.Optional(Type.String()),
};

const REGISTRATION = 2;
const VOTE = 3;

const transfer = method(Type.Object({ ...payment, passphrase, fee }), (params, context) =>
  create(keysFromPassphrase(params.passphrase), params.fee, context, payTo(params)),
);

const transactionMethods: Readonly<Record<string, Method>> = {
  "transactions.info": method(Type.Object({ id: transactionId }), async (params, { client }) => {
    return (await client.transactions.get(params.id)).data;
  }),

  "transactions.create": transfer,
  "transactions.transfer.create": transfer,

  "transactions.bip38.create": method(Type.Object({ ...payment, ...keeper, fee }), async (params, context) =>
    create(await findKeys(params, context), params.fee, context, payTo(params)),
  ),

  "transactions.delegateRegistration.create": method(
    Type.Object({ username: Type.String({ minLength: 1, maxLength: 64 }), passphrase, fee }),
    ({ username, passphrase, fee }, context) =>
      create(keysFromPassphrase(passphrase), fee, context, (envelope) =>
        isActive(REGISTRATION, envelope)
          ? builders.delegateRegistration({ ...envelope, username })
          : builders.unsDelegateRegister({ ...envelope, tokenId: username }),
      ),
  ),

  "transactions.vote.create": createVote("+"),
  "transactions.unvote.create": createVote("-"),

  "transactions.broadcast": method(Type.Object({ id: transactionId }), async (params, { client, store }) => {
    const json = store.findTransaction(params.id.toLowerCase());
    if (json === undefined) throw ofStatus(404);
    const transaction = JSON.parse(json) as { id: string };
    try {
      const { blockId } = (await post(client, transaction)) ?? {};
      if (blockId === undefined) return transaction;
      const { height } = (await client.blocks.get(blockId)).data;
      return { ...transaction, blockId, height };
    } catch (error) {
      throw error instanceof SendError ? notSent(error) : error;
    }
  }),
};

export const METHODS: Readonly<Record<string, Method>> = {
  ...blockMethods,
  ...transactionMethods,
  ...walletMethods,
};

function notSent({ type, message }: SendError): RpcError {
  if (type.code === "SEND_UNCERTAIN") return ofStatus(503, message);
  const isOutOfOrder =
    type.code === "SEND_REFUSED" && type.reasons.some((reason) => /\bnonce\b/.test(reason.message));
  if (!isOutOfOrder) return ofStatus(422, message);
  return ofStatus(
    422,
    `${message}; broadcast the transactions of a wallet in the order of their nonces, or create this one again`,
  );
}

function createVote(sign: "+" | "-"): Method {
  return method(Type.Object({ publicKey, passphrase, fee }), (params, context) =>
    create(keysFromPassphrase(params.passphrase), params.fee, context, (envelope) => {
      const vote = { ...envelope, vote: `${sign}${params.publicKey.toLowerCase()}` };
      return isActive(VOTE, envelope) ? builders.vote(vote) : builders.unsVote(vote);
    }),
  );
}

type Payment = Static<ReturnType<typeof Type.Object<typeof payment>>>;

const MAX_VENDOR_FIELD_BYTES = 255;

/** @throws {RpcError} for addresses of other networks, and for texts that do not fit into a transaction */
const payTo =
  ({ amount, recipientId, vendorField = "" }: Payment) =>
  (envelope: builders.Envelope): TransactionBody => {
    if (!isAddress(recipientId, envelope.network.description.pubKeyHash)) {
      throw invalidParams("recipientId: an address of this network is expected");
    }
    if (Buffer.byteLength(vendorField) > MAX_VENDOR_FIELD_BYTES) {
      throw invalidParams(`vendorField: up to ${MAX_VENDOR_FIELD_BYTES} bytes are expected`);
    }
    return builders.transfer({ ...envelope, recipientId, amount: BigInt(amount), vendorField });
  };

/** Returns true if the network takes the core's own type; the Unikname Network has types of its own for some. */
const isActive = (type: number, { network, height }: SenderEnvelope): boolean =>
  isTypeActive(TYPE_GROUPS.core, type, { network, height });

/**
 * Builds, signs and stores a transaction; nothing is sent.
 *
 * @throws {RpcError} for a transaction that every node would refuse, regardless of the state of the chain
 */
async function create(
  keys: KeyPair,
  fee: string | undefined,
  context: RpcContext,
  build: (envelope: SenderEnvelope) => TransactionBody,
): Promise<Record<string, unknown>> {
  const { client, network, store } = context;
  // This precedes the first wait, so that simultaneous calls know of each other.
  const place = context.nonces.enter(bytesToHex(keys.publicKey));
  const { envelope, wallet } = await prepareSender(client, network, { keys });
  if (wallet?.secondPublicKey) throw ofStatus(422, "passphrase: the wallet requires a second passphrase");
  const body = build(envelope);
  const paid = fee === undefined ? await averageFee(body, context) : BigInt(fee);
  // From here on, no other call runs in between.
  const nonce = place.next(envelope.nonce);
  const transaction = signTransaction({ ...body, nonce, fee: paid }, keys);
  const json = transactionToJson(transaction);
  const violation = matchesBatchSchema([json], { network, height: envelope.height });
  // Parameters have the names of the corresponding members.
  if (violation) throw invalidParams(`${violation.path.split("/").at(-1)}: ${violation.expectation}`);
  store.saveTransaction(transaction.id, JSON.stringify(json));
  place.use(nonce);
  return json;
}

const AVERAGE_DAYS = 30;

/** Returns the average fee recently paid for the type; the static fee if there is none. */
async function averageFee(
  { typeGroup, type, fee }: TransactionBody,
  { client }: RpcContext,
): Promise<bigint> {
  const { data } = await client.node.fees({ days: AVERAGE_DAYS });
  const paid =
    data[`${typeGroup ?? TYPE_GROUPS.core}`]?.[transactionKey(typeGroup ?? TYPE_GROUPS.core, type)];
  return paid === undefined ? fee : BigInt(paid.avg);
}
