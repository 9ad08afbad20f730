/** Steps that sign and submit a transaction. */
import { builders, signTransaction, type TransactionBody, transactionToJson } from "@uniknode/protocol";
import { ApiError } from "../api/error.ts";
import { unitsOf } from "./amounts.ts";
import { ScenarioError } from "./error.ts";
import type { Account } from "./names.ts";
import type { Steps, Submitted } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const KINDS = ["individual", "organization", "network"] as const;

/** Builds the transaction of each verb. */
const BUILDERS: {
  readonly [V in TransactionVerb]: (
    stage: Stage,
    value: Steps[V],
    envelope: builders.Envelope,
  ) => TransactionBody;
} = {
  transfer: ({ names }, { to, amount, message }, envelope) => ({
    ...builders.transfer({ ...envelope, recipientId: names.address(to), amount: unitsOf(amount) }),
    ...(message !== undefined && { vendorField: message }),
  }),
  mint: ({ names }, { unik, kind = "individual", set }, envelope) =>
    builders.nftMint({
      ...envelope,
      tokenId: names.unikId(unik),
      properties: { type: `${KINDS.indexOf(kind) + 1}`, ...set },
    }),
  update: ({ names }, { unik, set }, envelope) =>
    builders.nftUpdate({ ...envelope, tokenId: names.unikId(unik), properties: set }),
  transferUnik: ({ names }, { unik, to }, envelope) =>
    builders.nftTransfer({ ...envelope, tokenId: names.unikId(unik), recipientId: names.address(to) }),
  vote: ({ names }, { delegate }, envelope) =>
    builders.unsVote({ ...envelope, vote: `+${names.account(delegate).publicKey}` }),
  unvote: ({ names }, { delegate }, envelope) =>
    builders.unsVote({ ...envelope, vote: `-${names.account(delegate).publicKey}` }),
};

export type TransactionVerb = "transfer" | "mint" | "update" | "transferUnik" | "vote" | "unvote";

/** Submits the transaction of a step; the next block contains it. */
export async function submit<V extends TransactionVerb>(
  stage: Stage,
  verb: V,
  value: Steps[V],
): Promise<string> {
  const { client, network, names, start } = stage;
  const sender = names.account("owner" in value ? value.owner : value.from);
  const envelope = {
    network,
    senderPublicKey: sender.publicKey,
    height: start.height,
    nonce: await nextNonce(stage, sender),
    ...(value.fee !== undefined && { fee: unitsOf(value.fee) }),
  };
  const signed = signTransaction(BUILDERS[verb](stage, value, envelope), sender.keys);
  const transaction = transactionToJson(signed) as { readonly id: string };
  const { id } = transaction;
  const { data, errors = {} } = await client.transactions.submit([transaction]);
  const reasons = (errors[id] ?? []).map(({ type, message }) => ({ type, text: `${message} (${type})` }));
  const outcome = data.accept.includes(id)
    ? "the pool accepted it"
    : `the pool refused it: ${reasons.map(({ text }) => text).join("; ") || "the sender has too many pending transactions"}`;
  checkOutcome(
    value,
    outcome,
    reasons.map(({ type }) => type),
  );
  if (value.as !== undefined) stage.transactions.set(value.as, id);
  return id;
}

function checkOutcome({ refused }: Submitted, found: string, codes: readonly string[]): void {
  const isAccepted = codes.length === 0 && found.endsWith("accepted it");
  if (refused === undefined ? isAccepted : codes.includes(refused)) return;
  const expected = refused === undefined ? "the pool to accept it" : `the pool to refuse it with ${refused}`;
  throw new ScenarioError("SCENARIO_REFUSED", `expected ${expected}, but ${found}`, { expected, found });
}

/** Returns the nonce after the confirmed and pending transactions of the sender; a revert changes both. */
async function nextNonce({ client }: Stage, { address, publicKey }: Account): Promise<bigint> {
  let last = BigInt((await walletOf(client, address))?.nonce ?? 0);
  for await (const { senderPublicKey, nonce = 0 } of client.transactions.unconfirmed({ transform: false })) {
    if (senderPublicKey === publicKey && BigInt(nonce) > last) last = BigInt(nonce);
  }
  return last + 1n;
}

/** Returns undefined for a wallet that never received anything. */
async function walletOf(client: Stage["client"], address: string) {
  try {
    return (await client.wallets.get(address)).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === "API_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Returns the confirmed balance in the smallest unit. */
export const balanceOf = async (client: Stage["client"], address: string): Promise<bigint> =>
  BigInt((await walletOf(client, address))?.balance ?? 0);
