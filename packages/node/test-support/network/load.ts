/** Accounts that use the network during faults: each sends one transaction after another, of every type. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  builders,
  createNetwork,
  multiSignTransaction,
  type Network,
  signTransaction,
  type Transaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import type { Client } from "../process/client.ts";
import type { Random } from "../simulation/random.ts";
import { ALL_ACCOUNTS, ada, ben, cleo, dora, emil, factory, finn, gwen, payer, people } from "./cast.ts";
import type { Fleet } from "./fleet.ts";

const ONE = 100_000_000n;
const MULTIHASH = "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w";
const BRIDGECHAIN = "bc".repeat(32);

/** Pause between two polls of the chain, each at a random node. */
const LOOK_MS = 1_000;
/** Timeout, because a paused node does not respond. */
const RESPONSE_TIMEOUT_MS = 3_000;
const BULK = 20;
/** Blocks within which a lock with an end must be included, in addition to the round that it must last. */
const LOCK_BLOCKS = 20;

type Envelope = {
  readonly network: Network;
  readonly senderPublicKey: string;
  readonly nonce: bigint;
  readonly fee: bigint;
};
/** Sends a transaction with the sender's next nonce, and waits until it is on the chain. */
type Send = (sender: DevAccount, make: (envelope: Envelope) => TransactionBody) => Promise<Transaction>;

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

class Stopped extends Error {}

export function startLoad({ network: { files, rich }, client, count }: Fleet, random: Random): Load {
  const network = createNetwork(files);
  const notes = new Map<DevAccount, Notes>();
  let height = 0;
  let isStopped = false;

  /** Finds a node that responds. */
  async function anyClient(): Promise<Client> {
    for (;;) {
      if (isStopped) throw new Stopped();
      const some = await client(random.integer(0, count - 1));
      if (some) return some;
      await sleep(100);
    }
  }

  async function nonceOf(client: Client, { address }: DevAccount): Promise<bigint> {
    const wallet = (await client.get(`/api/wallets/${address}`).catch(() => ({ nonce: "0" }))) as {
      nonce: string;
    };
    return BigInt(wallet.nonce);
  }

  /** Repeats an operation on a node until it succeeds, while nodes come and go. */
  async function repeat(work: (client: Client) => Promise<void>): Promise<void> {
    while (!isStopped) {
      const turn = anyClient().then(work);
      // The node may have stopped.
      await Promise.race([turn.catch(() => {}), sleep(RESPONSE_TIMEOUT_MS)]);
      await sleep(LOOK_MS);
    }
  }

  /**
   * Submits transactions that a node does not have on its chain: the node that accepted them may be down or
   * have switched branches, and a revert may have removed them.
   */
  async function look(client: Client): Promise<void> {
    const { block } = (await client.get("/api/blockchain")) as { block: { height: number } };
    height = block.height;
    await Promise.all(
      [...notes].map(async ([account, note]) => {
        note.nonce = await nonceOf(client, account);
        const missing = note.sent.slice(Number(note.nonce));
        if (missing.length > 0) await client.submit(missing);
      }),
    );
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (isStopped) throw new Stopped();
      await sleep(200);
    }
  }

  const send: Send = async (sender, make) => {
    const note = notes.get(sender) ?? { sent: [], nonce: 0n };
    notes.set(sender, note);
    const { publicKey: senderPublicKey, keys } = sender;
    const nonce = BigInt(note.sent.length + 1);
    const transaction = signTransaction(make({ network, senderPublicKey, nonce, fee: 50n * ONE }), keys);
    note.sent.push(transaction);
    await until(() => note.nonce >= nonce);
    return transaction;
  };

  const secret = createHash("sha256").update("secret").digest("hex");
  const secretHash = createHash("sha256").update(Buffer.from(secret, "hex")).digest("hex");
  const certified = ({ keys }: DevAccount) => ({
    keys,
    issuedAt: Math.floor(Date.now() / 1_000),
    cost: 0n,
    factory: { tokenId: factory.unikId, keys: factory.keys },
  });
  const free = { fee: 0n };

  async function becomeDelegate(): Promise<void> {
    const { unikId: tokenId } = ada;
    await send(ada, (given) => builders.nftMint({ ...given, tokenId, properties: { type: "1" } }));
    await send(ada, (given) => builders.nftUpdate({ ...given, tokenId, properties: { "usr/color": "red" } }));
    await send(ada, (given) =>
      builders.certifiedDisclosure({
        ...given,
        ...certified(ada),
        tokenId,
        explicitValues: ["ada"],
        kind: 1,
      }),
    );
    await send(ada, (given) =>
      builders.certifiedUpdate({ ...given, ...certified(ada), tokenId, properties: { "usr/color": "blue" } }),
    );
    await send(ada, (given) => builders.unsDelegateRegister({ ...given, tokenId }));
    await send(cleo, (given) => builders.unsVote({ ...given, vote: `+${ada.publicKey}` }));
    await send(cleo, (given) => builders.unsVote({ ...given, vote: `-${ada.publicKey}` }));
    await send(ada, (given) => builders.unsDelegateResign(given));
    const { unikId } = cleo;
    await send(cleo, (given) =>
      builders.certifiedTransfer({
        ...given,
        ...certified(cleo),
        tokenId: unikId,
        recipientId: emil.address,
      }),
    );
  }

  async function useUniks(): Promise<void> {
    await send(factory, (given) =>
      builders.nftMint({ ...given, tokenId: factory.unikId, properties: { type: "2" } }),
    );
    const { unikId: tokenId } = cleo;
    await send(cleo, (given) =>
      builders.certifiedMint({ ...given, ...certified(cleo), tokenId, properties: { type: "1" } }),
    );
    await becomeDelegate();
  }

  async function giveUnikAway(): Promise<void> {
    const { unikId: tokenId } = finn;
    await send(finn, (given) => builders.nftMint({ ...given, tokenId, properties: { type: "1" } }));
    await send(finn, (given) => builders.nftTransfer({ ...given, tokenId, recipientId: gwen.address }));
  }

  async function useLocks(): Promise<void> {
    const common = { recipientId: dora.address, amount: ONE, secretHash };
    const value = height + count + LOCK_BLOCKS;
    const short = await send(ben, (given) =>
      builders.htlcLock({ ...given, ...common, expiration: { type: 2, value } }),
    );
    const long = await send(ben, (given) =>
      builders.htlcLock({ ...given, ...common, expiration: { type: 2, value: 1_000_000 } }),
    );
    await send(dora, (given) =>
      builders.htlcClaim({ ...given, ...free, lockTransactionId: long.id, unlockSecret: secret }),
    );
    await send(dora, (given) => builders.transfer({ ...given, recipientId: ben.address, amount: ONE }));
    await send(ben, (given) => builders.ipfs({ ...given, multihash: MULTIHASH }));
    await until(() => height > value);
    await send(ben, (given) => builders.htlcRefund({ ...given, ...free, lockTransactionId: short.id }));
  }

  async function useMoreKeys(): Promise<void> {
    await send(finn, (given) => {
      const signers = [finn, emil];
      const publicKeys = signers.map(({ publicKey }) => publicKey);
      const body = builders.multiSignature({ ...given, min: 1, publicKeys });
      return signers.reduce((signing, { keys }, index) => multiSignTransaction(signing, index, keys), body);
    });
    await send(emil, (given) =>
      builders.secondSignature({ ...given, publicKey: people("emil's second key").publicKey }),
    );
  }

  async function runBusiness(): Promise<void> {
    const changes = { website: "https://example.org/gwen" };
    const bridgechain = {
      name: "bridge",
      seedNodes: ["203.0.113.7"],
      genesisHash: BRIDGECHAIN,
      bridgechainRepository: "https://example.org/bridge",
      ports: { "@arkecosystem/core-api": 4003 },
    };
    const bridgechainId = BRIDGECHAIN;
    await send(gwen, (given) =>
      builders.businessRegistration({ ...given, business: { name: "gwen", website: "https://example.org" } }),
    );
    await send(gwen, (given) => builders.businessUpdate({ ...given, changes }));
    await send(gwen, (given) => builders.bridgechainRegistration({ ...given, bridgechain }));
    await send(gwen, (given) =>
      builders.bridgechainUpdate({ ...given, bridgechainId, changes: { seedNodes: ["203.0.113.8"] } }),
    );
    await send(gwen, (given) => builders.bridgechainResignation({ ...given, bridgechainId }));
    await send(gwen, (given) => builders.businessResignation(given));
  }

  /**
   * Sends many transactions at once, whose nonces continue from what the node has: of two with one nonce, one
   * is included.
   */
  async function pay(client: Client): Promise<void> {
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

  async function live(): Promise<void> {
    const payments = ALL_ACCOUNTS.map(({ address }) => ({ recipientId: address, amount: 10_000n * ONE }));
    await send(rich, (given) => builders.multiPayment({ ...given, payments }));
    await Promise.all([useUniks(), giveUnikAway().then(useMoreKeys), useLocks(), runBusiness()]);
  }

  const finished = live().catch((error) => {
    if (!(error instanceof Stopped)) throw error;
  });
  // The caller that awaits it receives the error.
  finished.catch(() => {});
  const work = Promise.all([repeat(look), repeat(pay)]);

  return {
    finished,
    async stop() {
      isStopped = true;
      await work;
    },
  };
}
