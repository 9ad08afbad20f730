/**
 * The setup blocks of the dev chain: they mint uniks of every type and elect the delegates. They contain ordinary
 * transactions and pass through the ordinary pipeline (decision 3).
 */
import {
  type BlockHeader,
  builders,
  createSlots,
  type EncodedBlock,
  forgeBlock,
  forgingOrder,
  type Network,
  type SealedTransaction,
} from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import type { DevAccount } from "./keys.ts";
import { type Cast, type DevDelegate, KINDS, type Kind, seal, typeOfKind } from "./network.ts";

const FACTORY_KIND: Kind = "organization";

/** The rules of a block depend on the block before it, so block 3 is the first that can contain uniks (trap A1). */
export const SETUP_HEIGHT = 3;

/** Returns the earliest time in Unix milliseconds at which a chain continues above its head: a copied one can be ahead of the clock. */
export function earliestStart(network: Network, { height, timestamp }: BlockHeader): number {
  const slots = createSlots(network);
  const missing = height < SETUP_HEIGHT ? SETUP_HEIGHT + 1 - height : 0;
  return slots.unixMsOf(slots.slotTime(slots.slotAt(timestamp) + missing));
}

/** Returns the setup blocks above the head; none when the setup is complete. */
export function setupBlocks(network: Network, cast: Cast, head: BlockHeader, nowMs: number): EncodedBlock[] {
  const slots = createSlots(network);
  const currentSlot = slots.slotAt(slots.timeAt(nowMs));
  const founders = forgingOrder(1, cast.founders.map(({ publicKey }) => publicKey).sort());
  const blocks: EncodedBlock[] = [];
  let previous = head;
  for (let height = head.height + 1; height <= SETUP_HEIGHT; height++) {
    // The last block has the slot before the current one.
    const slot = currentSlot - (SETUP_HEIGHT + 1 - height);
    const publicKey = founders[slot % founders.length];
    const founder = cast.founders.find((candidate) => candidate.publicKey === publicKey);
    const { keys } = present(founder, `founder ${publicKey}`);
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
    ...delegates.flatMap(({ account, kind }, index) => [
      mint(network, account, kind),
      ...elect(network, { account, kind }, `delegate-${index}`, factory, issuedAtSeconds),
    ]),
    // The first accounts own one unik each, of different kinds.
    ...KINDS.flatMap((kind, index) => {
      const account = accounts[index];
      return account ? [mint(network, account, kind)] : [];
    }),
  ];
}

/** Discloses the unik of a delegate, registers the delegate, and votes for it with its own wallet. */
function elect(
  network: Network,
  { account, kind }: DevDelegate,
  name: string,
  factory: DevAccount,
  issuedAtSeconds: number,
): SealedTransaction[] {
  const { unikId, publicKey } = account;
  const disclosure = builders.certifiedDisclosure({
    network,
    nonce: 2n,
    keys: account.keys,
    tokenId: unikId,
    explicitValues: [name],
    kind: Number(typeOfKind(kind)),
    factory: { tokenId: factory.unikId, keys: factory.keys },
    issuedAt: issuedAtSeconds,
  });
  const registration = builders.unsDelegateRegister({ ...envelopeOf(network, account, 3n), tokenId: unikId });
  const vote = builders.unsVote({ ...envelopeOf(network, account, 4n), vote: `+${publicKey}` });
  return [disclosure, registration, vote].map((body) => seal(body, account));
}

const mint = (network: Network, account: DevAccount, kind: Kind): SealedTransaction =>
  seal(
    builders.nftMint({
      ...envelopeOf(network, account, 1n),
      tokenId: account.unikId,
      properties: { type: typeOfKind(kind) },
    }),
    account,
  );

const envelopeOf = (network: Network, { publicKey }: DevAccount, nonce: bigint) => ({
  network,
  senderPublicKey: publicKey,
  nonce,
});
