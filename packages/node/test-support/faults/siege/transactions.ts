/** Transactions of attackers: signed ones, and others with a valid schema and random signatures, each at the cost of one hash. */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  addressFromPublicKey,
  builders,
  createNetwork,
  encodeTransaction,
  multiSignaturePublicKey,
  multiSignTransaction,
  type Network,
  signTransaction,
  type Transaction,
  type TransactionBody,
  transactionToJson,
} from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { people } from "../../chain/cast.ts";
import { testNetwork } from "../../peers/test-network.ts";
import { until } from "../../process/until.ts";
import type { Attacker } from "./attacker.ts";
import { inTurn } from "./requests.ts";

export type Accounts = ReturnType<typeof openAccounts>;

/** Returns the JSON of a different transaction at each call. */
export type NextText = () => string;

export const TRANSACTIONS_PER_REQUEST = 40;
export const PARTICIPANTS = 16;
const SIGNATURE_BYTES = 64;
/** Pause before a registration is submitted again. */
const SUBMIT_EVERY_MS = 500;
/** Maximum of the network. */
const RECIPIENTS = 128;

/** Account without coins. */
export const beggar = (number: number): DevAccount => people(`beggar ${number}`);

export function openAccounts(attacker: Attacker) {
  const { files, rich } = testNetwork(attacker.target.network);
  let count = 0;
  return {
    network: createNetwork(files),
    funded: rich,
    /** Returns another account without coins at each call. */
    unfunded: () => beggar(count++ % 500),
    /** Returns the nonce of an account on the chain; 0 if the node does not respond with it. */
    async nonce({ address } = rich): Promise<bigint> {
      const { text } = await attacker.ask({ path: `/api/v2/wallets/${address}` });
      return BigInt(/"nonce":"(\d+)"/.exec(text)?.[1] ?? 0);
    },
  };
}

export const textOf = (transaction: Transaction): string => JSON.stringify(transactionToJson(transaction));

/** Request that submits transactions. */
export const submission = (texts: readonly string[]) => ({
  path: "/api/v2/transactions",
  body: `{"transactions":[${texts.join(",")}]}`,
});

/** Signed transfer of one smallest unit, to the sender itself unless there is another recipient. */
export function transferText(
  { network }: Accounts,
  { publicKey, address, keys }: DevAccount,
  more: { readonly nonce: bigint; fee?: bigint; vendorField?: string; recipientId?: string },
): string {
  const body = { network, senderPublicKey: publicKey, recipientId: address, amount: 1n, ...more };
  return textOf(signTransaction(builders.transfer(body), keys));
}

/** The maximum number of payments, to new recipients unless one is given. */
export const manyPayments = (
  network: Network,
  sender: { readonly senderPublicKey: string; readonly nonce: bigint },
  recipientId?: string,
): TransactionBody =>
  builders.multiPayment({
    network,
    ...sender,
    payments: Array.from({ length: RECIPIENTS }, () => ({
      amount: 1n,
      recipientId: recipientId ?? addressFromPublicKey(`02${randomHex(32)}`, network.description.pubKeyHash),
    })),
  });

export const randomHex = (bytes: number): string => randomBytes(bytes).toString("hex");

/** Random signatures of the first participants. */
export const junkEntries = (participants: number): string[] =>
  Array.from(
    { length: participants },
    (_, index) => index.toString(16).padStart(2, "0") + randomHex(SIGNATURE_BYTES),
  );

/** Generates transactions that differ only in their random signatures, of the sender or of a number of participants. */
export function junkSigned(body: TransactionBody, { isSigned = false, participants = 0 }): NextText {
  const { id: _, ...known } = transactionToJson({ ...body, id: "" });
  const start = JSON.stringify(known).slice(0, -1);
  const unsigned = encodeTransaction(body);
  return () => {
    const signature = isSigned ? randomHex(SIGNATURE_BYTES) : "";
    const signatures = junkEntries(participants);
    const id = createHash("sha256")
      .update(unsigned)
      .update(signature + signatures.join(""), "hex")
      .digest("hex");
    const members = {
      id,
      ...(isSigned && { signature }),
      ...(participants > 0 && { signatures }),
    };
    return `${start},${JSON.stringify(members).slice(1)}`;
  };
}

/** Returns the maximum number of transactions of a request at each call, alternating between the texts. */
export function batches(texts: readonly NextText[]): () => string[] {
  const next = inTurn(texts);
  return () => Array.from({ length: TRANSACTIONS_PER_REQUEST }, () => next()());
}

/** Each of the 16 keys of the multisignature wallet signs alone: all wrong signatures are checked before a refusal. */
function walletOf({ unfunded }: Accounts) {
  const participants = Array.from({ length: PARTICIPANTS }, unfunded);
  const shape = { min: 1, publicKeys: participants.map(({ publicKey }) => publicKey) };
  return { participants, shape, publicKey: multiSignaturePublicKey(shape) };
}

/** Public key of the multisignature wallet; attackers do not need more. The accounts must be new. */
export const walletKey = (accounts: Accounts): string => walletOf(accounts).publicKey;

/** Registers the wallet unless it is on the chain, and waits until it is. */
export async function registerWallet(attacker: Attacker): Promise<void> {
  const accounts = openAccounts(attacker);
  const { funded, network } = accounts;
  const { participants, shape, publicKey } = walletOf(accounts);
  const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
  await until("the multisignature wallet is registered", async () => {
    const { text } = await attacker.ask({ path: `/api/v2/wallets/${address}` });
    if (text.includes('"multiSignature"')) return true;
    // Each time: transactions of the previous attack can have the same nonce.
    const nonce = (await accounts.nonce()) + 1n;
    const body = builders.multiSignature({ network, senderPublicKey: funded.publicKey, nonce, ...shape });
    const signed = participants.reduce(
      (body, { keys }, index) => multiSignTransaction(body, index, keys),
      body,
    );
    await attacker.ask(submission([textOf(signTransaction(signed, funded.keys))]));
    await sleep(SUBMIT_EVERY_MS);
    return false;
  });
}
