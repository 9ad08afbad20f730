/** Accounts that use the network during faults: each sends one transaction after another, of every type. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiError, Client } from "@uniknode/client";
import {
  builders,
  createNetwork,
  type Network,
  signTransaction,
  type Transaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { isWithin } from "../../../src/platform/notifier.ts";
import { ada, ben, cleo, dora, payer } from "../../chain/cast.ts";
import { ONE, useEveryType, type Work } from "../../chain/every-type-load.ts";
import type { Random } from "../../random.ts";
import { Background } from "../scenario.ts";
import type { Fleet } from "./fleet.ts";

/** Pause between two polls of the chain, each at a random node. */
const POLL_MS = 1_000;
/** Timeout, because a paused node does not respond. */
const RESPONSE_TIMEOUT_MS = 3_000;
const BULK = 20;
const FEE = 50n * ONE;

/** Transactions that an account has sent, in the order of the nonces, and its nonce on the chain at the last poll. */
type Notes = { readonly sent: Transaction[]; nonce: bigint };

export class Load implements Work {
  /** Settles when every account has completed its work, or the load stops. */
  readonly finished: Promise<void>;
  readonly roundLength: number;
  readonly #network: Network;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #notes = new Map<DevAccount, Notes>();
  readonly #running: readonly Background[];
  #height = 0;

  constructor({ network: { files, rich }, nodes }: Fleet, random: Random) {
    this.roundLength = nodes.length;
    this.#network = createNetwork(files);
    this.#random = random;
    this.finished = useEveryType(this, rich).catch((error) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
    // The caller that awaits it receives the error.
    this.finished.catch(() => {});
    const repeat = (work: (client: Client) => Promise<void>) =>
      new Background(POLL_MS, () => isWithin(work(random.pick(nodes).client), RESPONSE_TIMEOUT_MS));
    this.#running = [repeat((client) => this.#poll(client)), repeat((client) => this.#pay(client))];
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.map((each) => each.stop()));
  }

  height(): number {
    return this.#height;
  }

  async until(isMet: () => boolean): Promise<void> {
    while (!isMet()) await sleep(200, undefined, { signal: this.#stopping.signal });
  }

  /** Signs a transaction with the next nonce, which `#poll` submits until it is on the chain. */
  async send(sender: DevAccount, make: Parameters<Work["send"]>[1]): Promise<Transaction> {
    const note = this.#notes.get(sender) ?? { sent: [], nonce: 0n };
    this.#notes.set(sender, note);
    const nonce = BigInt(note.sent.length + 1);
    const body = make({ network: this.#network, senderPublicKey: sender.publicKey, nonce, fee: FEE });
    const transaction = signTransaction(body, sender.keys);
    note.sent.push(transaction);
    await this.until(() => note.nonce >= nonce);
    return transaction;
  }

  /** Submits transactions that are not on the chain of a node: the node that accepted them may be down or have reverted them. */
  async #poll(client: Client): Promise<void> {
    this.#height = (await client.blockchain.get()).data.block.height;
    await Promise.all(
      [...this.#notes].map(async ([account, note]) => {
        note.nonce = await nonceOf(client, account);
        const missing = note.sent.slice(Number(note.nonce));
        if (missing.length > 0) await client.transactions.submit(missing.map(transactionToJson));
      }),
    );
  }

  /** Sends many transactions at once, whose nonces continue from what the node has: of two with one nonce, one is included. */
  async #pay(client: Client): Promise<void> {
    const [network, random] = [this.#network, this.#random];
    const nonce = await nonceOf(client, payer);
    const { publicKey: senderPublicKey, keys } = payer;
    const payments = Array.from({ length: BULK }, (_, index) => {
      const recipientId = random.pick([ada, ben, cleo, dora]).address;
      const amount = BigInt(random.integer(1, 1_000));
      const envelope = { network, senderPublicKey, nonce: nonce + BigInt(index) + 1n };
      return signTransaction(builders.transfer({ ...envelope, recipientId, amount }), keys);
    });
    await client.transactions.submit(payments.map(transactionToJson));
  }
}

async function nonceOf(client: Client, { address }: DevAccount): Promise<bigint> {
  const wallet = await client.wallets.get(address).catch((error: ApiError) => {
    if (error.code !== "API_NOT_FOUND") throw error;
  });
  return BigInt(wallet?.data.nonce ?? 0);
}
