/** Random transactions of several types, each account with its own sequence of nonces. */
import { builders, type Network, signTransaction, type TransactionBody } from "@uniknode/protocol";
import type { DevAccount, DevAccounts } from "../../../src/dev-chain/keys.ts";
import { castOf, KINDS, typeOfKind } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import type { Client } from "../../process/client.ts";
import type { Random } from "./random.ts";

/** Account with its transactions so far. */
type Sender = {
  readonly account: DevAccount;
  /** Delegate that the owner of a unik may vote for, and the kind of both. */
  readonly candidate?: { readonly publicKey: string; readonly kind: number };
  nonce: bigint;
  uniks: string[];
  vote: string | undefined;
  isDisclosed: boolean;
  isDelegate: boolean;
  isKnown: boolean;
};

/** More pending transactions of one sender would be refused while nothing is forged. */
const MAX_AT_ONCE = 5;
const WORDS = ["red", "green", "blue", "dark red"];

export type Actors = {
  readonly people: DevAccounts;
  /** Receives some of the transfers, and sends nothing. */
  readonly watched: DevAccount;
  readonly random: Random;
};

type State = Actors & {
  readonly accounts: readonly DevAccount[];
  readonly factory: DevAccount;
};

/** Returns a function that submits some transactions, and returns the ids of the accepted ones. */
export function createSubmissions(accounts: readonly DevAccount[], actors: Actors) {
  const { delegates, factory } = castOf(actors.people, 0);
  // The first accounts own a unik each, one of every kind.
  const candidates = KINDS.map((kind) => ({
    publicKey: present(delegates.find((delegate) => delegate.kind === kind)).account.publicKey,
    kind: Number(typeOfKind(kind)),
  }));
  const senders: Sender[] = accounts.map((account, index) => ({
    account,
    ...(candidates[index] && { candidate: candidates[index] }),
    nonce: 0n,
    uniks: [],
    vote: undefined,
    isDisclosed: false,
    isDelegate: false,
    isKnown: false,
  }));
  const state: State = { ...actors, accounts, factory };
  return (client: Client): Promise<readonly string[]> =>
    submitSome(state, actors.random.pick(senders), client);
}

async function submitSome(state: State, sender: Sender, client: Client): Promise<readonly string[]> {
  if (!sender.isKnown) await refresh(state, sender, client);
  const count = state.random.integer(1, MAX_AT_ONCE);
  const transactions = Array.from({ length: count }, () =>
    signTransaction(bodyOf(state, sender, client.network), sender.account.keys),
  );
  // Whatever the response, the nonce is certain only after the node has returned it.
  sender.isKnown = false;
  const { accepted } = await client.submit(transactions);
  sender.isKnown = accepted.length === count;
  return accepted;
}

/** Takes the nonce from the node, because a crash or a refusal may have changed it. */
async function refresh({ random }: State, sender: Sender, { get }: Client): Promise<void> {
  const { address, unikId } = sender.account;
  const wallet = (await get(`/api/v2/wallets/${address}`)) as {
    nonce?: string;
    vote?: string;
    isDelegate?: boolean;
  };
  const pending = (await get("/api/v2/transactions/unconfirmed?limit=100")) as {
    senderPublicKey: string;
  }[];
  const waiting = pending.filter(({ senderPublicKey }) => senderPublicKey === sender.account.publicKey);
  sender.nonce = BigInt(wallet.nonce ?? "0") + BigInt(waiting.length);
  sender.uniks = sender.nonce > 0n ? [unikId] : [];
  sender.vote = wallet.vote;
  sender.isDelegate = wallet.isDelegate === true;
  // A refused transaction is not submitted again.
  sender.isDisclosed = random.chance(0.5);
  sender.isKnown = true;
}

function bodyOf(state: State, sender: Sender, network: Network): TransactionBody {
  const { accounts, random, watched } = state;
  const { account } = sender;
  sender.nonce++;
  const envelope = { network, senderPublicKey: account.publicKey, nonce: sender.nonce };
  const recipientId = random.chance(0.3) ? watched.address : random.pick(accounts).address;
  const vendorField = random.chance(0.5) ? `${random.pick(WORDS)} ${random.integer(1, 99)}` : undefined;
  const amount = BigInt(random.integer(1, 1_000));
  const text = vendorField === undefined ? {} : { vendorField };
  const tokenId = sender.uniks[0];
  const dice = random.integer(1, 16);
  if (dice > 10) return careerBody(state, sender, { network, dice });
  if (dice <= 6) return builders.transfer({ ...envelope, recipientId, amount, ...text });
  if (dice <= 8) {
    const payments = [1, 2].map(() => ({ recipientId: random.pick(accounts).address, amount }));
    return builders.multiPayment({ ...envelope, payments, ...text });
  }
  if (tokenId === undefined) return builders.transfer({ ...envelope, recipientId, amount });
  const properties = { [`usr/${random.pick(WORDS).replace(" ", "-")}`]: String(random.integer(1, 9)) };
  return builders.nftUpdate({ ...envelope, tokenId, properties });
}

/**
 * Payment to a new address, vote, or next step of a registration or resignation as delegate; some are
 * refused.
 */
function careerBody(
  { people, random, factory }: State,
  sender: Sender,
  { network, dice }: { readonly network: Network; readonly dice: number },
): TransactionBody {
  const { account, candidate, nonce } = sender;
  const envelope = { network, senderPublicKey: account.publicKey, nonce };
  const [tokenId] = sender.uniks;
  if (dice === 11 || tokenId === undefined || !candidate) {
    const { address } = people(`newcomer ${random.integer(1, 1e9)}`);
    return builders.transfer({ ...envelope, recipientId: address, amount: 1_000n });
  }
  if (dice <= 13) {
    const vote = sender.vote === undefined ? `+${candidate.publicKey}` : `-${sender.vote}`;
    sender.vote = sender.vote === undefined ? candidate.publicKey : undefined;
    return builders.unsVote({ ...envelope, vote });
  }
  if (sender.isDelegate) return builders.unsDelegateResign(envelope);
  if (sender.isDisclosed) {
    sender.isDelegate = true;
    return builders.unsDelegateRegister({ ...envelope, tokenId });
  }
  sender.isDisclosed = true;
  return builders.certifiedDisclosure({
    network,
    nonce,
    keys: account.keys,
    tokenId,
    explicitValues: [`name-${candidate.kind}`],
    kind: candidate.kind,
    factory: { tokenId: factory.unikId, keys: factory.keys },
    issuedAt: 1,
  });
}
