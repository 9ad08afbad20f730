/** A chain in a database file with transactions of every type, missed slots and missed rounds. */
import {
  blockToJson,
  builders,
  bytesOfBlock,
  createNetwork,
  createRounds,
  createSlots,
  delegateOfSlot,
  forgeBlock,
  type Network,
  type SealedTransaction,
} from "@uniknode/protocol";
import type { Chain } from "../../src/chain/chain.ts";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { seal } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { testNetwork } from "../peers/test-network.ts";
import { CANDIDATE, payer } from "./cast.ts";
import { ONE, useEveryType, type Work } from "./every-type-load.ts";
import { type OpenChain, openChain } from "./fixtures.ts";

export type ForgedChain = OpenChain & {
  readonly network: Network;
  /** Forges blocks without transactions on the head, each `skipped` slots later than necessary. */
  forge(blocks: number, skipped?: number): Promise<void>;
  /** Forges a block with payments. */
  forgePayments(count: number): Promise<void>;
};

const NODES = 5;
const FEE = 50n * ONE;
/** Heights between which one delegate forges no block. */
const ABSENCE = { from: 11, to: 30 };

/** A transaction that waits for a block, and the function to call when the chain has it. */
type Sent = { readonly transaction: SealedTransaction; readonly included: () => void };

export async function forgeEveryType(path: string): Promise<ForgedChain> {
  const { files, block, delegates, rich } = testNetwork({ nodes: NODES, blocktime: 2 });
  const network = createNetwork(files);
  const content = { network: files, genesis: blockToJson(block) };
  const opened = openChain(content, path, { feedBlocks: 10_000 });
  const forgeNext = createForger(opened.chain, network, [...delegates, CANDIDATE]);
  // The second block may not contain transactions of version 2 yet.
  await forgeNext([]);
  const waiting: Sent[] = [];
  const waits = new Set<() => void>();
  let isDone = false;
  const work = useEveryType(workOn(opened.chain, network, waiting, waits), rich).finally(() => {
    isDone = true;
  });
  // It rejects in the loop, where it is awaited.
  work.catch(() => {});
  while (!isDone) {
    const sent = waiting.splice(0);
    await forgeNext(sent.map(({ transaction }) => transaction));
    for (const { included } of sent) included();
    for (const check of waits) check();
    // The accounts sign their next transactions.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await work;
  return {
    ...opened,
    network,
    async forge(blocks, skipped = 0) {
      for (let count = 0; count < blocks; count++) await forgeNext([], skipped);
    },
    forgePayments: (count) => forgeNext(paymentsOf(opened.chain, network, count)),
  };
}

function createForger(chain: Chain, network: Network, forgers: readonly DevAccount[]) {
  const slots = createSlots(network);
  const rounds = createRounds(network);
  const keysOf = new Map(forgers.map(({ publicKey, keys }) => [publicKey, keys]));
  const absent = present(forgers[0]).publicKey;
  return async (transactions: readonly SealedTransaction[], skipped = 0): Promise<void> => {
    const previous = chain.head();
    const height = previous.height + 1;
    const { order } = present(chain.state.get("rounds", `${rounds.roundAt(height).round}`));
    let slot = slots.slotAt(previous.timestamp) + 1 + skipped;
    const isAbsence = height >= ABSENCE.from && height <= ABSENCE.to;
    while (isAbsence && delegateOfSlot(order, slot) === absent) slot++;
    const keys = present(keysOf.get(present(delegateOfSlot(order, slot))));
    const forged = forgeBlock(
      { network, timestamp: slots.slotTime(slot), previous, transactions: [...transactions] },
      keys,
    );
    const [outcome] = await chain.accept([bytesOfBlock(forged)]);
    if (outcome?.kind !== "Accepted") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  };
}

function paymentsOf({ state }: Chain, network: Network, count: number): SealedTransaction[] {
  const { publicKey: senderPublicKey, address } = payer;
  const first = (state.get("wallets", address)?.nonce ?? 0n) + 1n;
  return Array.from({ length: count }, (_, index) => {
    const envelope = { network, senderPublicKey, nonce: first + BigInt(index), fee: ONE / 10n };
    return seal(builders.transfer({ ...envelope, recipientId: address, amount: 1n }), payer);
  });
}

const workOn = (chain: Chain, network: Network, waiting: Sent[], waits: Set<() => void>): Work => ({
  async send(sender, make) {
    const nonce = (chain.state.get("wallets", sender.address)?.nonce ?? 0n) + 1n;
    const body = make({ network, senderPublicKey: sender.publicKey, nonce, fee: FEE });
    const transaction = seal(body, sender);
    await new Promise<void>((included) => waiting.push({ transaction, included }));
    return transaction.data;
  },
  until: (isMet) =>
    new Promise((resolve) => {
      const check = () => {
        if (!isMet()) return;
        waits.delete(check);
        resolve();
      };
      waits.add(check);
      check();
    }),
  height: () => chain.head().height,
  roundLength: NODES,
});
