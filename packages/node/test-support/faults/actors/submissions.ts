/** Random transactions of several types, each account with its own sequence of nonces. */
import { builders, type Network, signTransaction, type TransactionBody } from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { castOf, KINDS, typeOfKind } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import { people } from "../../chain/cast.ts";
import type { Client } from "../../process/client.ts";
import type { Random } from "../../random.ts";

type Owner = {
  readonly account: DevAccount;
  /** Delegate that the owner of a unik may vote for, and the kind of both. */
  readonly candidate: { readonly publicKey: string; readonly kind: number } | undefined;
};

/** An account as the node has it, and as its next transactions change it. */
type Sender = Owner & {
  readonly network: Network;
  /** Its unik, once it has one. */
  readonly tokenId: string | undefined;
  nonce: bigint;
  vote: string | undefined;
  isDisclosed: boolean;
  isDelegate: boolean;
};

/** More pending transactions of one sender would be refused while nothing is forged. */
const MAX_AT_ONCE = 5;
const WORDS = ["red", "green", "blue", "dark red"];

/** Send and receive. The first accounts own a unik each, one of every kind. */
const accounts = Array.from({ length: 5 }, (_, index) => people(`account ${index}`));
/** Receives some of the transfers, and sends nothing. */
export const watched = people("account 9");
const { delegates, factory } = castOf(people, 0);
const candidates = KINDS.map((kind) => ({
  publicKey: present(delegates.find((delegate) => delegate.kind === kind)).account.publicKey,
  kind: Number(typeOfKind(kind)),
}));
const owners = accounts.map((account, index): Owner => ({ account, candidate: candidates[index] }));

/** Returns a function that submits some transactions, and returns the ids of the accepted ones. */
export const createSubmissions =
  (random: Random) =>
  async (client: Client): Promise<readonly string[]> => {
    const sender = await readSender(random.pick(owners), client, random);
    const transactions = Array.from({ length: random.integer(1, MAX_AT_ONCE) }, () =>
      signTransaction(nextBody(random, sender), sender.account.keys),
    );
    return (await client.submit(transactions)).accepted;
  };

/** Takes the nonce from the node, because a crash or a refusal may have changed it. */
async function readSender(owner: Owner, { get, network }: Client, random: Random): Promise<Sender> {
  const { address, publicKey, unikId } = owner.account;
  const wallet = (await get(`/api/v2/wallets/${address}`)) as {
    nonce?: string;
    vote?: string;
    isDelegate?: boolean;
  };
  const pending = (await get("/api/v2/transactions/unconfirmed?limit=100")) as { senderPublicKey: string }[];
  const waiting = pending.filter(({ senderPublicKey }) => senderPublicKey === publicKey);
  const nonce = BigInt(wallet.nonce ?? "0") + BigInt(waiting.length);
  return {
    ...{ ...owner, network, nonce, vote: wallet.vote, isDelegate: wallet.isDelegate === true },
    tokenId: nonce > 0n ? unikId : undefined,
    // A refused disclosure is not submitted again and again.
    isDisclosed: random.chance(0.5),
  };
}

function nextBody(random: Random, sender: Sender): TransactionBody {
  const { network, account, candidate, tokenId } = sender;
  sender.nonce++;
  const envelope = { network, senderPublicKey: account.publicKey, nonce: sender.nonce };
  const recipientId = random.chance(0.3) ? watched.address : random.pick(accounts).address;
  const text = random.chance(0.5) ? { vendorField: `${random.pick(WORDS)} ${random.integer(1, 99)}` } : {};
  const amount = BigInt(random.integer(1, 1_000));
  const dice = random.integer(1, 16);
  if (dice > 11 && tokenId !== undefined && candidate) {
    if (dice > 13) return nextOfCareer(sender, tokenId, candidate.kind);
    const vote = sender.vote === undefined ? `+${candidate.publicKey}` : `-${sender.vote}`;
    sender.vote = sender.vote === undefined ? candidate.publicKey : undefined;
    return builders.unsVote({ ...envelope, vote });
  }
  if (dice > 10) {
    const { address } = people(`newcomer ${random.integer(1, 1e9)}`);
    return builders.transfer({ ...envelope, recipientId: address, amount: 1_000n });
  }
  if (dice > 8 && tokenId !== undefined) {
    const properties = { [`usr/${random.pick(WORDS).replace(" ", "-")}`]: String(random.integer(1, 9)) };
    return builders.nftUpdate({ ...envelope, tokenId, properties });
  }
  if (dice <= 6 || dice > 8) return builders.transfer({ ...envelope, recipientId, amount, ...text });
  const payments = [1, 2].map(() => ({ recipientId: random.pick(accounts).address, amount }));
  return builders.multiPayment({ ...envelope, payments, ...text });
}

/** Next step of a registration or resignation as delegate; some are refused. */
function nextOfCareer(sender: Sender, tokenId: string, kind: number): TransactionBody {
  const { network, account, nonce } = sender;
  const envelope = { network, senderPublicKey: account.publicKey, nonce };
  if (sender.isDelegate) return builders.unsDelegateResign(envelope);
  if (sender.isDisclosed) {
    sender.isDelegate = true;
    return builders.unsDelegateRegister({ ...envelope, tokenId });
  }
  sender.isDisclosed = true;
  return builders.certifiedDisclosure({
    ...{ network, nonce, keys: account.keys, tokenId, kind, issuedAt: 1 },
    explicitValues: [`name-${kind}`],
    factory: { tokenId: factory.unikId, keys: factory.keys },
  });
}
