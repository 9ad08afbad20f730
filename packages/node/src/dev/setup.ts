/**
 * The first blocks of the dev chain, which make it what it is: uniks of every type, a factory, elected delegates.
 * They hold ordinary transactions and pass through the ordinary pipeline (decision 3).
 */
import { forgingOrder } from "@uniknode/ledger";
import {
  type Block,
  certifyDisclosure,
  createSlots,
  forgeBlock,
  type Network,
  type SealedTransaction,
  signDiscloseDemand,
  type TransactionBody,
} from "@uniknode/protocol";
import { seal } from "./genesis.ts";
import type { Person } from "./keys.ts";
import { type Cast, DEV_ADDRESS_VERSION, type DevDelegate, KINDS, type Kind, typeOfKind } from "./network.ts";

const FEE = 10_000_000n;
const NFT_GROUP = 2000;
const UNS_GROUP = 2001;
const FACTORY_KIND: Kind = "organization";

/** Blocks 2 and 3: rules of a block follow the block below it, so that block 3 is the first with uniks (trap A1). */
export function setupBlocks(network: Network, cast: Cast, genesis: Block, nowMs: number): Block[] {
  const slots = createSlots(network);
  const currentSlot = slots.slotAt(slots.timeAt(nowMs));
  const founders = forgingOrder(1, cast.founders.map(({ publicKey }) => publicKey).sort());
  const forge = (
    previous: { id: string; height: number },
    slot: number,
    transactions: SealedTransaction[],
  ) => {
    const publicKey = founders[slot % founders.length];
    const { keys } = cast.founders.find((founder) => founder.publicKey === publicKey)!;
    return forgeBlock({ network, timestamp: slots.slotTime(slot), previous, transactions }, keys);
  };
  const empty = forge(genesis.header, currentSlot - 2, []);
  return [empty, forge(empty.header, currentSlot - 1, setupTransactions(cast, slots.slotTime(currentSlot)))];
}

function setupTransactions(cast: Cast, nowSeconds: number): SealedTransaction[] {
  const { factory, delegates, accounts } = cast;
  return [
    mint(factory, FACTORY_KIND),
    ...delegates.flatMap((delegate, index) => elect(delegate, `delegate-${index}`, factory, nowSeconds)),
    // The first accounts own a unik each, one of every kind.
    ...accounts.slice(0, KINDS.length).map((account, index) => mint(account, KINDS[index]!)),
  ];
}

/** Mints and discloses the delegate's unik, registers it, and lets it vote for itself. */
function elect(
  { person, kind }: DevDelegate,
  name: string,
  factory: Person,
  nowSeconds: number,
): SealedTransaction[] {
  const { unikId, publicKey } = person;
  const payload = {
    explicitValue: [name],
    type: Number(typeOfKind(kind)),
    iss: unikId,
    sub: unikId,
    iat: nowSeconds,
  };
  const demand = signDiscloseDemand(payload, person.keys);
  const certification = certifyDisclosure(demand, { iss: factory.unikId, iat: nowSeconds }, factory.keys);
  const asset = { "disclose-demand": demand, "disclose-demand-certification": certification };
  const uns = (type: number, nonce: bigint, rest: Partial<TransactionBody>) =>
    seal({ ...body(person, nonce), typeGroup: UNS_GROUP, type, ...rest }, person);
  return [
    mint(person, kind),
    uns(0, 2n, { asset }),
    uns(1, 3n, { asset: { delegate: { username: unikId } } }),
    uns(5, 4n, { asset: { votes: [`+${publicKey}`] } }),
  ];
}

const mint = (person: Person, kind: Kind): SealedTransaction =>
  seal(
    {
      ...body(person, 1n),
      typeGroup: NFT_GROUP,
      type: 0,
      asset: { nft: { unik: { tokenId: person.unikId, properties: { type: typeOfKind(kind) } } } },
    },
    person,
  );

const body = ({ publicKey }: Person, nonce: bigint) => ({
  version: 2,
  network: DEV_ADDRESS_VERSION,
  nonce,
  fee: FEE,
  amount: 0n,
  senderPublicKey: publicKey,
});
