/** Independent derivation of the facts of a block from the rows of the chain, by other means than the node's. */
import { addressFromPublicKey } from "@uniknode/protocol";
import { DEV_ADDRESS_VERSION } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import type { ChainBlock, ChainTransaction } from "./chronicle.ts";

/** Fact that the simulation can derive from the chain alone: of a transaction, of a wallet, or of the block. */
export type Fact = {
  readonly name: string;
  readonly block: ChainBlock;
  readonly transaction?: ChainTransaction;
  readonly address?: string;
};

/** Facts of a transaction besides that it was applied, by group and type. */
const MEANINGS: Readonly<Record<string, string>> = {
  "1/2": "delegate.registered",
  "1/7": "delegate.resigned",
  "2000/0": "unik.minted",
  "2000/1": "unik.updated",
  "2000/2": "unik.transferred",
  "2001/0": "unik.disclosed",
  "2001/1": "delegate.registered",
  "2001/2": "delegate.resigned",
};

/** Facts of a block in the order in which they are delivered. */
export const factsOf = (block: ChainBlock): Fact[] => [
  ...block.transactions.flatMap((transaction) =>
    namesOf(transaction).map((name) => ({ name, block, transaction })),
  ),
  ...block.transactions
    .filter(({ isFirst }) => isFirst)
    .map(({ recipient }) => ({ name: "wallet.created.cold", block, address: present(recipient) })),
  ...[...new Set(changedBy(block))].map((address) => ({ name: "wallet.saved", block, address })),
  { name: "block.applied", block },
];

function namesOf({ type, asset }: ChainTransaction): string[] {
  const meaning = MEANINGS[type];
  const [vote] = asset?.votes ?? [];
  return [
    "transaction.applied",
    ...(meaning === undefined ? [] : [meaning]),
    ...(vote === undefined ? [] : [vote.startsWith("+") ? "wallet.vote" : "wallet.unvote"]),
  ];
}

/** Wallets that differ after the block; there may be more of them, such as delegates with other votes. */
const changedBy = ({ generator, transactions }: ChainBlock): string[] => [
  addressOf(generator),
  ...transactions.flatMap(({ sender, recipient, asset }) => [
    addressOf(sender),
    ...(recipient === null ? [] : [recipient]),
    ...(asset?.payments ?? []).map(({ recipientId }) => recipientId),
  ]),
];

const addressOf = (publicKey: string) => addressFromPublicKey(publicKey, DEV_ADDRESS_VERSION);

/** Names of facts of which `factsOf` derives some, but not all. */
export const PARTLY_KNOWN_FACTS: ReadonlySet<string> = new Set(["wallet.saved"]);

/** Names of the facts that `factsOf` derives. */
export const KNOWN_FACTS: ReadonlySet<string> = new Set([
  ...["block.applied", "transaction.applied", "wallet.vote", "wallet.unvote", "wallet.created.cold"],
  ...Object.values(MEANINGS),
  ...PARTLY_KNOWN_FACTS,
]);

/** Names of facts that cannot be derived from stored blocks. */
export const FORGOTTEN_FACTS: ReadonlySet<string> = new Set(["wallet.saved", "wallet.created.cold"]);
