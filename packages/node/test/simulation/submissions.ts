/** Random transactions of several types, each from an account of its own line of nonces. */
import { builders, type Network, signTransaction, type TransactionBody } from "@uniknode/protocol";
import type { Person } from "../../src/dev/keys.ts";
import type { Client } from "../process/client.ts";
import type { Random } from "./random.ts";

/** An account with what it has done so far. */
type Sender = { readonly person: Person; nonce: bigint; uniks: string[]; minted: number; isKnown: boolean };

/** More at once from one sender would be refused while nothing is forged. */
const MAX_AT_ONCE = 5;
const WORDS = ["red", "green", "blue", "dark red"];

export function createSubmissions(people: readonly Person[], watched: Person, random: Random) {
  const senders: Sender[] = people.map((person) => ({
    person,
    nonce: 0n,
    uniks: [],
    minted: 0,
    isKnown: false,
  }));

  function bodyOf(network: Network, sender: Sender): TransactionBody {
    const { person } = sender;
    sender.nonce++;
    const envelope = { network, senderPublicKey: person.publicKey, nonce: sender.nonce };
    const recipientId = random.chance(0.3) ? watched.address : random.pick(people).address;
    const vendorField = random.chance(0.5) ? `${random.pick(WORDS)} ${random.integer(1, 99)}` : undefined;
    const amount = BigInt(random.integer(1, 1_000));
    const text = vendorField === undefined ? {} : { vendorField };
    const tokenId = sender.uniks[0];
    const dice = random.integer(1, 10);
    if (dice <= 6) return builders.transfer({ ...envelope, recipientId, amount, ...text });
    if (dice <= 8) {
      const payments = [1, 2].map(() => ({ recipientId: random.pick(people).address, amount }));
      return builders.multiPayment({ ...envelope, payments, ...text });
    }
    if (tokenId === undefined) return builders.transfer({ ...envelope, recipientId, amount });
    const properties = { [`usr/${random.pick(WORDS).replace(" ", "-")}`]: String(random.integer(1, 9)) };
    return builders.nftUpdate({ ...envelope, tokenId, properties });
  }

  /** What the node knows of the sender is what counts: a crash or a refusal may have come between. */
  async function lookUp({ get }: Client, sender: Sender): Promise<void> {
    const { address, unikId } = sender.person;
    const wallet = (await get(`/api/v2/wallets/${address}`)) as { nonce?: string };
    const pending = (await get("/api/v2/transactions/unconfirmed?limit=100")) as {
      senderPublicKey: string;
    }[];
    const waiting = pending.filter(({ senderPublicKey }) => senderPublicKey === sender.person.publicKey);
    sender.nonce = BigInt(wallet.nonce ?? "0") + BigInt(waiting.length);
    sender.uniks = sender.minted === 0 && sender.nonce > 0n ? [unikId] : sender.uniks;
    sender.isKnown = true;
  }

  /** Hands some transactions over; answers how many were accepted. */
  return async (client: Client): Promise<number> => {
    const sender = random.pick(senders);
    if (!sender.isKnown) await lookUp(client, sender);
    const count = random.integer(1, MAX_AT_ONCE);
    const transactions = Array.from({ length: count }, () =>
      signTransaction(bodyOf(client.network, sender), sender.person.keys),
    );
    // Whatever happens to the answer, the nonce is known again only when it was said.
    sender.isKnown = false;
    const { accepted } = await client.submit(transactions);
    sender.isKnown = accepted.length === count;
    return accepted.length;
  };
}
