/** Dev chain that can fork: each slot's block is signed by the delegate of the slot. */
import {
  blockToJson,
  builders,
  bytesOfBlock,
  createNetwork,
  createRounds,
  createSlots,
  delegateOfSlot,
  type EncodedBlock,
  forgeBlock,
  genesisBlockFromJson,
  type Network,
  type SealedTransaction,
} from "@uniknode/protocol";
import { onTestFinished } from "vitest";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { type DevAccount, deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis, seal, typeOfKind } from "../../src/dev-chain/network.ts";
import { eventsOfFacts, eventsOfRevert } from "../../src/events/block-events.ts";
import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import { openMigrated } from "../store/migrated.ts";
import { createWebhookStore } from "../webhooks/sqlite-register.ts";

const ACCOUNTS = 8;
const MNEMONIC = "test test test test test test test test test test test junk";
export const cast = castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), ACCOUNTS);
export const dev = devGenesis(cast, 2);
export const network = createNetwork(dev.files);

export type ForkingOptions = {
  /** Chain with the first block of the dev chain, with other rules if given. */
  readonly network: Network;
  /** Accounts that may forge or send. */
  readonly forgers: readonly DevAccount[];
  /** If true, the chain is closed at the end of the test. */
  readonly isWithinTest?: boolean;
};
export const AS_IT_BEGINS: ForkingOptions = { network, forgers: cast.founders };

export type ForkingChain = ReturnType<typeof createForkingChain>;

/** Chain in a database file; it records the events that the file's webhooks subscribe to. */
export function createForkingChain(
  path: string,
  { network, forgers, isWithinTest = true }: ForkingOptions = AS_IT_BEGINS,
) {
  const database = openMigrated(path);
  const chain = openChain(database, network);
  let isClosed = false;
  /** Closes the chain; otherwise the end of the test does. */
  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    await chain.close();
    database.close();
  }
  if (isWithinTest) onTestFinished(close);
  const slots = createSlots(network);
  const rounds = createRounds(network);
  const keysOf = new Map(forgers.map(({ publicKey, keys }) => [publicKey, keys]));

  /** Forges a block on the head, `skipped` slots later than necessary. */
  function make(transactions: readonly SealedTransaction[], skipped = 0): EncodedBlock {
    const previous = chain.head();
    const { round } = rounds.roundAt(previous.height + 1);
    const { order } = present(chain.state.get("rounds", `${round}`));
    const slot = slots.slotAt(previous.timestamp) + 1 + skipped;
    const keys = present(keysOf.get(present(delegateOfSlot(order, slot))));
    return forgeBlock({ network, timestamp: slots.slotTime(slot), previous, transactions }, keys);
  }

  /** Forges a block on the head, `skipped` slots later than necessary, and submits it to the chain. */
  async function forge(transactions: readonly SealedTransaction[] = [], skipped = 0): Promise<Uint8Array> {
    const bytes = bytesOfBlock(make(transactions, skipped));
    await take(bytes);
    return bytes;
  }

  async function take(bytes: Uint8Array): Promise<void> {
    const [outcome] = await chain.accept([bytes]);
    if (outcome?.kind !== "Accepted") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  }

  return {
    chain,
    make,
    forge,
    take,
    /** Builds a transfer from an account to the next one. */
    transfer: (from: number, amount: bigint, nonce?: bigint) =>
      transfer({ chain, network }, { from, amount, nonce }),
    mint: (account: number) => mint({ chain, network }, account),
    close,
  };
}

function openChain(database: Database, network: Network): Chain {
  const webhooks = createWebhookStore(database);
  const slots = createSlots(network);
  return new Chain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis: genesisBlockFromJson(blockToJson(dev.block), network),
    verifier: new BatchVerifier({ threads: 0 }),
    events: new EventLog(database, { recordedNames: webhooks.eventNames }),
    eventsOfFacts: (facts, header) => eventsOfFacts(facts, header, slots),
    eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
    now: Date.now,
    onListenerError: (error) => {
      throw error;
    },
  });
}

type Sending = { readonly chain: Chain; readonly network: Network };

const nonceOf = ({ chain }: Sending, address: string): bigint =>
  (chain.state.get("wallets", address)?.nonce ?? 0n) + 1n;

function transfer(
  sending: Sending,
  payment: { readonly from: number; readonly amount: bigint; readonly nonce: bigint | undefined },
): SealedTransaction {
  const { from, amount, nonce } = payment;
  const sender = present(cast.accounts[from]);
  return seal(
    builders.transfer({
      network: sending.network,
      senderPublicKey: sender.publicKey,
      nonce: nonce ?? nonceOf(sending, sender.address),
      fee: 10_000_000n,
      amount,
      recipientId: present(cast.accounts[(from + 1) % cast.accounts.length]).address,
    }),
    sender,
  );
}

function mint(sending: Sending, account: number): SealedTransaction {
  const owner = present(cast.accounts[account]);
  return seal(
    builders.nftMint({
      network: sending.network,
      senderPublicKey: owner.publicKey,
      nonce: nonceOf(sending, owner.address),
      tokenId: owner.unikId,
      properties: { type: typeOfKind("individual") },
    }),
    owner,
  );
}
