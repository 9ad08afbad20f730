/** People who use the network while it is in trouble: each sends one transaction after another, of every type. */
import { createHash } from "node:crypto";
import {
  builders,
  multiSignTransaction,
  signTransaction,
  type Transaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { type Person, peopleOf } from "../../src/dev/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev/network.ts";
import type { Client } from "../process/client.ts";
import type { Random } from "../simulation/random.ts";
import type { Fleet } from "./fleet.ts";

const ONE = 100_000_000n;
const MNEMONIC = "test test test test test test test test test test test junk";
const people = peopleOf(MNEMONIC, DEV_ADDRESS_VERSION);
const MULTIHASH = "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w";

/** Pause between two looks at whether a transaction is on the chain. */
const LOOK_MS = 1_000;
/** A node may have lost what it was given. */
const LOOKS_BEFORE_REPEAT = 8;
const BULK = 20;

type Envelope = {
  readonly network: Client["network"];
  readonly senderPublicKey: string;
  readonly nonce: bigint;
};
/** Sends what is made with the sender's next nonce, and waits until it is on the chain. */
type Send = (sender: Person, make: (envelope: Envelope) => TransactionBody) => Promise<Transaction>;

export type Load = {
  /** Types of the transactions that were seen on the chain, as `group/type`. */
  readonly types: ReadonlySet<string>;
  /** Ends when the last answers are in. */
  stop(): Promise<void>;
};

class Stopped extends Error {}

export function startLoad(fleet: Fleet, random: Random): Load {
  const { rich, delegates } = fleet.network;
  const types = new Set<string>();
  let isStopped = false;

  /** Some node that answers. */
  async function anyClient(): Promise<Client> {
    for (;;) {
      if (isStopped) throw new Stopped();
      const client = await fleet.client(random.integer(0, fleet.count - 1));
      if (client) return client;
    }
  }

  async function nonceOf(client: Client, { address }: Person): Promise<bigint> {
    const wallet = (await client.get(`/api/wallets/${address}`)) as { nonce: string };
    return BigInt(wallet.nonce);
  }

  const signed = (body: TransactionBody, { keys }: Person): Transaction => signTransaction(body, keys);

  const send: Send = async (sender, make) => {
    let looks = 0;
    let sent: Transaction | undefined;
    for (;;) {
      try {
        const client = await anyClient();
        const nonce = await nonceOf(client, sender);
        if (sent && nonce >= sent.nonce!) {
          types.add(`${sent.typeGroup}/${sent.type}`);
          return sent;
        }
        if (!sent || looks++ % LOOKS_BEFORE_REPEAT === 0) {
          const envelope = { network: client.network, senderPublicKey: sender.publicKey, nonce: nonce + 1n };
          sent ??= signed(make(envelope), sender);
          await client.submit([sent]);
        }
      } catch (error) {
        // The node went away.
        if (error instanceof Stopped) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };

  const [ada, ben, cleo, dora, emil] = ["ada", "ben", "cleo", "dora", "emil"].map(people) as [
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  const factory = people("factory");
  const secret = createHash("sha256").update("secret").digest("hex");
  const secretHash = createHash("sha256").update(Buffer.from(secret, "hex")).digest("hex");
  const certified = ({ keys }: Person) => ({
    keys,
    issuedAt: Math.floor(Date.now() / 1_000),
    cost: 0n,
    factory: { tokenId: factory.unikId, keys: factory.keys },
  });

  async function useUniks(): Promise<void> {
    await send(factory, (given) =>
      builders.nftMint({ ...given, tokenId: factory.unikId, properties: { type: "2" } }),
    );
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
    await send(ada, (given) => builders.unsDelegateResign(given));
  }

  async function useCertifiedUniks(): Promise<void> {
    const { unikId: tokenId } = cleo;
    const properties = { type: "1" };
    await send(cleo, (given) =>
      builders.certifiedMint({ ...given, ...certified(cleo), tokenId, properties }),
    );
    await send(cleo, (given) => builders.unsVote({ ...given, vote: `+${delegates[0]!.publicKey}` }));
    await send(cleo, (given) => builders.unsVote({ ...given, vote: `-${delegates[0]!.publicKey}` }));
    await send(cleo, (given) => builders.nftTransfer({ ...given, tokenId, recipientId: emil.address }));
  }

  async function useLocks(): Promise<void> {
    const expiration = { type: 2, value: 1_000_000 };
    const lock = await send(ben, (given) =>
      builders.htlcLock({ ...given, recipientId: dora.address, amount: ONE, secretHash, expiration }),
    );
    await send(dora, (given) =>
      builders.htlcClaim({ ...given, lockTransactionId: lock.id, unlockSecret: secret }),
    );
    await send(ben, (given) => builders.ipfs({ ...given, multihash: MULTIHASH }));
    await send(dora, (given) =>
      builders.entityRegistration({ ...given, entityType: 0, entitySubType: 0, name: "dora" }),
    );
    await send(ben, (given) => {
      const keys = [ben, dora];
      const body = builders.multiSignature({
        ...given,
        min: 1,
        publicKeys: keys.map(({ publicKey }) => publicKey),
      });
      return keys.reduce((signing, person, index) => multiSignTransaction(signing, index, person.keys), body);
    });
    await send(emil, (given) =>
      builders.secondSignature({ ...given, publicKey: people("emil's second key").publicKey }),
    );
  }

  /** Many at once, whose nonces go on from what the chain knows. */
  async function pay(): Promise<void> {
    for (;;) {
      try {
        const client = await anyClient();
        const nonce = await nonceOf(client, rich);
        const payments = Array.from({ length: BULK }, (_, index) =>
          signed(
            builders.transfer({
              network: client.network,
              senderPublicKey: rich.publicKey,
              nonce: nonce + BigInt(index) + 1n,
              recipientId: random.pick(delegates).address,
              amount: BigInt(random.integer(1, 1_000)),
            }),
            rich,
          ),
        );
        await client.submit(payments);
        types.add("1/0");
      } catch (error) {
        if (error instanceof Stopped) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async function live(): Promise<void> {
    const recipients = [factory, ada, ben, cleo, dora, emil];
    await send(rich, (given) =>
      builders.multiPayment({
        ...given,
        payments: recipients.map(({ address }) => ({ recipientId: address, amount: 1_000n * ONE })),
      }),
    );
    await Promise.all([useUniks().then(useCertifiedUniks), useLocks(), pay()]);
  }

  const lives = live().catch((error) => {
    if (!(error instanceof Stopped)) throw error;
  });
  // Heard of when it is stopped.
  lives.catch(() => {});

  return {
    types,
    async stop() {
      isStopped = true;
      await lives;
    },
  };
}
