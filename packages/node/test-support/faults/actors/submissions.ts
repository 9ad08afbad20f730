/** Random transactions of several types, each account with its own sequence of nonces. */
import type { Client } from "@uniknode/client";
import {
  builders,
  createNetwork,
  type Network,
  signTransaction,
  type TransactionBody,
  transactionToJson,
} from "@uniknode/protocol";
import { castOf, KINDS, typeOfKind } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import { people } from "../../chain/cast.ts";
import type { Random } from "../../random.ts";
import type { DevChain } from "./dev-chain.ts";

type Owner = (typeof owners)[number];
/** An account as the node has it, and as its next transactions change it. */
type Sender = Awaited<ReturnType<typeof readSender>>;
type Envelope = { readonly network: Network; readonly senderPublicKey: string; readonly nonce: bigint };

/** More pending transactions of one sender would be refused while nothing is forged. */
const MAX_AT_ONCE = 5;
const WORDS = ["red", "green", "blue", "dark red"];

/** Send and receive. The first accounts own a unik each, one of every kind. */
const accounts = Array.from({ length: 5 }, (_, index) => people(`account ${index}`));
/** Receives some of the transfers, and sends nothing. */
export const watched = people("account 9");
const { delegates, factory } = castOf(people, 0);
/** Delegates that the owners of uniks may vote for, and the kind of both. */
const candidates = KINDS.map((kind) => ({
  publicKey: present(delegates.find((delegate) => delegate.kind === kind)).account.publicKey,
  kind: Number(typeOfKind(kind)),
}));
const owners = accounts.map((account, index) => ({ account, candidate: candidates[index] }));

/** Returns a function that submits some transactions, and returns the ids of the accepted ones. */
export function createSubmissions(random: Random, { client, files }: Pick<DevChain, "client" | "files">) {
  const network = createNetwork(files);
  return async (): Promise<readonly string[]> => {
    const sender = await readSender(random.pick(owners), client, random);
    const transactions = Array.from({ length: random.integer(1, MAX_AT_ONCE) }, () =>
      transactionToJson(signTransaction(nextBody(random, network, sender), sender.account.keys)),
    );
    return (await client.transactions.submit(transactions)).data.accept;
  };
}

/** Takes the nonce from the node, because a crash or a refusal may have changed it. */
async function readSender(owner: Owner, { wallets, transactions }: Client, random: Random) {
  const { address, publicKey, unikId } = owner.account;
  const { nonce: last = "0", vote, isDelegate } = (await wallets.get(address)).data;
  const pending = (await transactions.unconfirmed().page({ limit: 100 })).data;
  const waiting = pending.filter(({ senderPublicKey }) => senderPublicKey === publicKey);
  const nonce = BigInt(last) + BigInt(waiting.length);
  return {
    ...{ ...owner, nonce, vote, isDelegate: isDelegate === true },
    tokenId: nonce > 0n ? unikId : undefined,
    // A refused disclosure is not submitted again and again.
    isDisclosed: random.chance(0.5),
  };
}

function nextBody(random: Random, network: Network, sender: Sender): TransactionBody {
  const { account, candidate, tokenId } = sender;
  sender.nonce++;
  const envelope = { network, senderPublicKey: account.publicKey, nonce: sender.nonce };
  const recipientId = random.chance(0.3) ? watched.address : random.pick(accounts).address;
  const text = random.chance(0.5) ? { vendorField: `${random.pick(WORDS)} ${random.integer(1, 99)}` } : {};
  const amount = BigInt(random.integer(1, 1_000));
  const dice = random.integer(1, 16);
  if (dice > 11 && tokenId !== undefined && candidate) {
    if (dice > 13) return nextOfCareer(sender, envelope, tokenId, candidate.kind);
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
function nextOfCareer(sender: Sender, envelope: Envelope, tokenId: string, kind: number): TransactionBody {
  if (sender.isDelegate) return builders.unsDelegateResign(envelope);
  if (sender.isDisclosed) {
    sender.isDelegate = true;
    return builders.unsDelegateRegister({ ...envelope, tokenId });
  }
  sender.isDisclosed = true;
  return builders.certifiedDisclosure({
    ...envelope,
    ...{ keys: sender.account.keys, tokenId, kind, issuedAt: 1 },
    explicitValues: [`name-${kind}`],
    factory: { tokenId: factory.unikId, keys: factory.keys },
  });
}
