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
  type TransactionBody,
  transactionToJson,
} from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { people } from "../../chain/cast.ts";
import { testNetwork } from "../../peers/test-network.ts";
import { until } from "../../process/until.ts";
import type { Attacker } from "./attacker.ts";

/** Returns the JSON of a different transaction at each call. */
export type NextText = () => string;

export type Envelope = ReturnType<Accounts["envelope"]>;

export const TRANSACTIONS_PER_REQUEST = 40;
export const PARTICIPANTS = 16;
const SIGNATURE_BYTES = 64;
const SUBMIT_EVERY_MS = 500;
/** Maximum of the network. */
const RECIPIENTS = 128;

/** Account without coins. */
export const beggar = (number: number): DevAccount => people(`beggar ${number}`);

export class Accounts {
  readonly network: Network;
  readonly funded: DevAccount;
  readonly #attacker: Attacker;
  #count = 0;

  constructor(attacker: Attacker) {
    const { files, rich } = testNetwork(attacker.target.network);
    this.network = createNetwork(files);
    this.funded = rich;
    this.#attacker = attacker;
  }

  unfunded(): DevAccount {
    return beggar(this.#count++ % 500);
  }

  /** Returns the nonce of an account on the chain; 0 if the node does not respond with it. */
  async nonce({ address } = this.funded): Promise<bigint> {
    const { text } = await this.#attacker.ask({ path: `/api/v2/wallets/${address}` });
    return BigInt(/"nonce":"(\d+)"/.exec(text)?.[1] ?? 0);
  }

  envelope({ publicKey }: Pick<DevAccount, "publicKey">, nonce = 1n) {
    return { network: this.network, senderPublicKey: publicKey, nonce };
  }

  /** Returns a signed transfer of one smallest unit, to the sender itself unless there is another recipient. */
  transfer(
    sender: DevAccount,
    nonce: bigint,
    more: { readonly fee?: bigint; readonly vendorField?: string; readonly recipientId?: string } = {},
  ): string {
    const fields = { recipientId: sender.address, amount: 1n, ...more };
    return signedText(builders.transfer({ ...this.envelope(sender, nonce), ...fields }), sender);
  }
}

export const signedText = (body: TransactionBody, { keys }: Pick<DevAccount, "keys">): string =>
  JSON.stringify(transactionToJson(signTransaction(body, keys)));

export const submission = (texts: readonly string[]) => ({
  path: "/api/v2/transactions",
  body: `{"transactions":[${texts.join(",")}]}`,
});

export const fullSubmission = (next: NextText) =>
  submission(Array.from({ length: TRANSACTIONS_PER_REQUEST }, next));

/** The maximum number of payments, to new recipients unless one is given. */
export const manyPayments = (envelope: Envelope, recipientId?: string): TransactionBody =>
  builders.multiPayment({
    ...envelope,
    payments: Array.from({ length: RECIPIENTS }, () => ({
      amount: 1n,
      recipientId:
        recipientId ?? addressFromPublicKey(`02${randomHex(32)}`, envelope.network.description.pubKeyHash),
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
    const signed = createHash("sha256").update(unsigned);
    const id = signed.update(signature + signatures.join(""), "hex").digest("hex");
    const members = { id, ...(isSigned && { signature }), ...(participants > 0 && { signatures }) };
    return `${start},${JSON.stringify(members).slice(1)}`;
  };
}

/** Each of the 16 keys of the multisignature wallet signs alone: all wrong signatures are checked. The accounts must be new. */
export function walletOf(accounts: Accounts) {
  const participants = Array.from({ length: PARTICIPANTS }, () => accounts.unfunded());
  const shape = { min: 1, publicKeys: participants.map(({ publicKey }) => publicKey) };
  return { participants, shape, publicKey: multiSignaturePublicKey(shape) };
}

/** Registers the wallet unless it is on the chain, and waits until it is. */
export async function registerWallet(attacker: Attacker): Promise<void> {
  const accounts = new Accounts(attacker);
  const { funded, network } = accounts;
  const { participants, shape, publicKey } = walletOf(accounts);
  const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
  await until("the multisignature wallet is registered", async () => {
    const { text } = await attacker.ask({ path: `/api/v2/wallets/${address}` });
    if (text.includes('"multiSignature"')) return true;
    // Each time: transactions of the previous attack can have the same nonce.
    const nonce = (await accounts.nonce()) + 1n;
    const body = builders.multiSignature({ ...accounts.envelope(funded, nonce), ...shape });
    const signed = participants.reduce(
      (body, { keys }, index) => multiSignTransaction(body, index, keys),
      body,
    );
    await attacker.ask(submission([signedText(signed, funded)]));
    await sleep(SUBMIT_EVERY_MS);
    return false;
  });
}
