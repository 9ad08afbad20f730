/** Accounts that use the network during faults: each sends one transaction after another, of every type. */
import { setTimeout as sleep } from "node:timers/promises";
import { builders, createNetwork, type Network, signTransaction, type Transaction } from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import type { Client } from "../../process/client.ts";
import { ada, ben, cleo, dora, payer } from "../actors/cast.ts";
import { ONE, useEveryType, type Work } from "../actors/every-type.ts";
import type { Random } from "../actors/random.ts";
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

export type Load = {
  /** Settles when every account has completed its work. */
  readonly finished: Promise<void>;
  /** Settles when the last responses have arrived. */
  stop(): Promise<void>;
};

type State = {
  readonly nodes: Fleet["nodes"];
  readonly network: Network;
  readonly random: Random;
  readonly notes: Map<DevAccount, Notes>;
  /** Height of the chain at the last poll. */
  height: number;
  isStopped: boolean;
};

class Stopped extends Error {}

export function startLoad(fleet: Fleet, random: Random): Load {
  const { files, rich } = fleet.network;
  const network = createNetwork(files);
  const state: State = { nodes: fleet.nodes, network, random, notes: new Map(), height: 0, isStopped: false };
  const finished = useEveryType(workOf(state), rich).catch((error) => {
    if (!(error instanceof Stopped)) throw error;
  });
  // The caller that awaits it receives the error.
  finished.catch(() => {});
  const work = Promise.all([repeat(state, poll), repeat(state, pay)]);

  return {
    finished,
    async stop() {
      state.isStopped = true;
      await work;
    },
  };
}

const workOf = (state: State): Work => ({
  send: (sender, make) => send(state, sender, make),
  until: (isMet) => until(state, isMet),
  height: () => state.height,
  roundLength: state.nodes.length,
});

async function send(
  state: State,
  sender: DevAccount,
  make: Parameters<Work["send"]>[1],
): Promise<Transaction> {
  const note = state.notes.get(sender) ?? { sent: [], nonce: 0n };
  state.notes.set(sender, note);
  const { publicKey: senderPublicKey, keys } = sender;
  const nonce = BigInt(note.sent.length + 1);
  const transaction = signTransaction(
    make({ network: state.network, senderPublicKey, nonce, fee: FEE }),
    keys,
  );
  note.sent.push(transaction);
  await until(state, () => note.nonce >= nonce);
  return transaction;
}

async function until(state: State, isMet: () => boolean): Promise<void> {
  while (!isMet()) {
    if (state.isStopped) throw new Stopped();
    await sleep(200);
  }
}

/** Repeats an operation on a node until the load stops, while nodes come and go. */
async function repeat(state: State, work: (state: State, client: Client) => Promise<void>): Promise<void> {
  while (!state.isStopped) {
    const attempt = anyClient(state).then((client) => work(state, client));
    // The node may have stopped.
    await Promise.race([attempt.catch(() => {}), sleep(RESPONSE_TIMEOUT_MS)]);
    await sleep(POLL_MS);
  }
}

/** Finds a node that responds. */
async function anyClient(state: State): Promise<Client> {
  const { nodes, random } = state;
  for (;;) {
    if (state.isStopped) throw new Stopped();
    const client = await random.pick(nodes).client();
    if (client) return client;
    await sleep(100);
  }
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
  const wallet = (await client.get(`/api/wallets/${address}`).catch(() => ({ nonce: "0" }))) as {
    nonce: string;
  };
  return BigInt(wallet.nonce);
}

/**
 * Sends many transactions at once, whose nonces continue from what the node has: of two with one nonce, one
 * is included.
 */
async function pay({ network, random }: State, client: Client): Promise<void> {
  const nonce = await nonceOf(client, payer);
  const { publicKey: senderPublicKey, keys } = payer;
  const payments = Array.from({ length: BULK }, (_, index) =>
    signTransaction(
      builders.transfer({
        network,
        senderPublicKey,
        nonce: nonce + BigInt(index) + 1n,
        recipientId: random.pick([ada, ben, cleo, dora]).address,
        amount: BigInt(random.integer(1, 1_000)),
      }),
      keys,
    ),
  );
  await client.submit(payments);
}
