/** Accounts that use the network during faults: each sends one transaction after another, of every type. */
import { setTimeout as sleep } from "node:timers/promises";
import { builders, createNetwork, type Network, signTransaction, type Transaction } from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { ada, ben, cleo, dora, payer } from "../../chain/cast.ts";
import { ONE, useEveryType, type Work } from "../../chain/every-type-load.ts";
import type { Client } from "../../process/client.ts";
import type { Random } from "../../random.ts";
import { type Background, repeat } from "../scenario.ts";
import type { Fleet } from "./fleet.ts";

/** Pause between two polls of the chain, each at a random node. */
const POLL_MS = 1_000;
/** Timeout, because a paused node does not respond. */
const RESPONSE_TIMEOUT_MS = 3_000;
const BULK = 20;
const FEE = 50n * ONE;

/**
 * Transactions that an account has sent, in the order of the nonces, and its nonce on the chain at the last
 * poll.
 */
type Notes = { readonly sent: Transaction[]; nonce: bigint };

type State = {
  readonly network: Network;
  readonly random: Random;
  readonly notes: Map<DevAccount, Notes>;
  /** Height of the chain at the last poll. */
  height: number;
};

/** `finished` settles when every account has completed its work, or the load stops. */
export function startLoad(
  { network: { files, rich }, nodes }: Fleet,
  random: Random,
): Background & { readonly finished: Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const state: State = { network: createNetwork(files), random, notes: new Map(), height: 0 };
  const until: Work["until"] = async (isMet) => {
    while (!isMet()) await sleep(200, undefined, { signal });
  };
  const work: Work = {
    async send(sender, make) {
      const { note, transaction, nonce } = sign(state, sender, make);
      await until(() => note.nonce >= nonce);
      return transaction;
    },
    until,
    height: () => state.height,
    roundLength: nodes.length,
  };
  const finished = useEveryType(work, rich).catch((error) => {
    if (!signal.aborted) throw error;
  });
  // The caller that awaits it receives the error.
  finished.catch(() => {});
  const running = [poll, pay].map((work) =>
    repeat(
      () => POLL_MS,
      () => Promise.race([useAnyNode(work), sleep(RESPONSE_TIMEOUT_MS, undefined, { ref: false })]),
    ),
  );
  async function useAnyNode(work: (state: State, client: Client) => Promise<void>): Promise<void> {
    const client = await random.pick(nodes).client();
    if (client) await work(state, client);
  }
  return {
    finished,
    async stop() {
      stopping.abort();
      await Promise.all(running.map((each) => each.stop()));
    },
  };
}

/** Signs a transaction with the next nonce, which `poll` submits until it is on the chain. */
function sign({ notes, network }: State, sender: DevAccount, make: Parameters<Work["send"]>[1]) {
  const note = notes.get(sender) ?? { sent: [], nonce: 0n };
  notes.set(sender, note);
  const nonce = BigInt(note.sent.length + 1);
  const body = make({ network, senderPublicKey: sender.publicKey, nonce, fee: FEE });
  const transaction = signTransaction(body, sender.keys);
  note.sent.push(transaction);
  return { note, transaction, nonce };
}

/**
 * Submits transactions that a node does not have on its chain: the node that accepted them may be down or
 * have switched branches, and a revert may have removed them.
 */
async function poll(state: State, client: Client): Promise<void> {
  const { block } = (await client.get("/api/blockchain")) as { block: { height: number } };
  state.height = block.height;
  await Promise.all(
    [...state.notes].map(async ([account, note]) => {
      note.nonce = await nonceOf(client, account);
      const missing = note.sent.slice(Number(note.nonce));
      if (missing.length > 0) await client.submit(missing);
    }),
  );
}

async function nonceOf(client: Client, { address }: DevAccount): Promise<bigint> {
  const wallet = await client.get(`/api/wallets/${address}`).catch(() => ({ nonce: "0" }));
  return BigInt((wallet as { nonce: string }).nonce);
}

/**
 * Sends many transactions at once, whose nonces continue from what the node has: of two with one nonce, one
 * is included.
 */
async function pay({ network, random }: State, client: Client): Promise<void> {
  const nonce = await nonceOf(client, payer);
  const { publicKey: senderPublicKey, keys } = payer;
  const payments = Array.from({ length: BULK }, (_, index) => {
    const recipientId = random.pick([ada, ben, cleo, dora]).address;
    const amount = BigInt(random.integer(1, 1_000));
    const envelope = { network, senderPublicKey, nonce: nonce + BigInt(index) + 1n };
    return signTransaction(builders.transfer({ ...envelope, recipientId, amount }), keys);
  });
  await client.submit(payments);
}
