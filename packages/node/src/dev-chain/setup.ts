/**
 * The first blocks of the dev chain, which make it what it is: uniks of every type, a factory, elected delegates.
 * They hold ordinary transactions and pass through the ordinary pipeline (decision 3).
 */
import { forgingOrder } from "@uniknode/ledger";
import {
  type BlockHeader,
  builders,
  createSlots,
  type EncodedBlock,
  forgeBlock,
  type Network,
  type SealedTransaction,
} from "@uniknode/protocol";
import { seal } from "./genesis.ts";
import type { Person } from "./keys.ts";
import { type Cast, type DevDelegate, KINDS, type Kind, typeOfKind } from "./network.ts";

const FACTORY_KIND: Kind = "organization";

/** Rules of a block follow the block below it, so that block 3 is the first that can hold uniks (trap A1). */
export const SETUP_HEIGHT = 3;

/** The blocks that are still missing between the head and the end of the setup; none on a chain that has begun. */
export function setupBlocks(network: Network, cast: Cast, head: BlockHeader, nowMs: number): EncodedBlock[] {
  const slots = createSlots(network);
  const currentSlot = slots.slotAt(slots.timeAt(nowMs));
  const founders = forgingOrder(1, cast.founders.map(({ publicKey }) => publicKey).sort());
  const blocks: EncodedBlock[] = [];
  let previous = head;
  for (let height = head.height + 1; height <= SETUP_HEIGHT; height++) {
    // The last of them lies in the slot before the current one.
    const slot = currentSlot - (SETUP_HEIGHT + 1 - height);
    const publicKey = founders[slot % founders.length];
    const { keys } = cast.founders.find((founder) => founder.publicKey === publicKey)!;
    const transactions =
      height === SETUP_HEIGHT ? setupTransactions(network, cast, Math.floor(nowMs / 1000)) : [];
    const block = forgeBlock({ network, timestamp: slots.slotTime(slot), previous, transactions }, keys);
    blocks.push(block);
    previous = block.header;
  }
  return blocks;
}

function setupTransactions(network: Network, cast: Cast, issuedAtSeconds: number): SealedTransaction[] {
  const { factory, delegates, accounts } = cast;
  return [
    mint(network, factory, FACTORY_KIND),
    ...delegates.flatMap(({ person, kind }, index) => [
      mint(network, person, kind),
      ...elect(network, { person, kind }, `delegate-${index}`, factory, issuedAtSeconds),
    ]),
    // The first accounts own a unik each, one of every kind.
    ...accounts.slice(0, KINDS.length).map((account, index) => mint(network, account, KINDS[index]!)),
  ];
}

/** Discloses the delegate's unik, registers it, and lets it vote for itself. */
function elect(
  network: Network,
  { person, kind }: DevDelegate,
  name: string,
  factory: Person,
  issuedAtSeconds: number,
): SealedTransaction[] {
  const { unikId, publicKey } = person;
  const disclosure = builders.certifiedDisclosure({
    network,
    nonce: 2n,
    keys: person.keys,
    tokenId: unikId,
    explicitValues: [name],
    kind: Number(typeOfKind(kind)),
    factory: { tokenId: factory.unikId, keys: factory.keys },
    issuedAt: issuedAtSeconds,
  });
  const registration = builders.unsDelegateRegister({ ...envelopeOf(network, person, 3n), tokenId: unikId });
  const vote = builders.unsVote({ ...envelopeOf(network, person, 4n), vote: `+${publicKey}` });
  return [disclosure, registration, vote].map((body) => seal(body, person));
}

const mint = (network: Network, person: Person, kind: Kind): SealedTransaction =>
  seal(
    builders.nftMint({
      ...envelopeOf(network, person, 1n),
      tokenId: person.unikId,
      properties: { type: typeOfKind(kind) },
    }),
    person,
  );

const envelopeOf = (network: Network, { publicKey }: Person, nonce: bigint) => ({
  network,
  senderPublicKey: publicKey,
  nonce,
});
