/** Causes of each event on a dev chain: real operations through the pool, the forger and the chain. */
import type { Client } from "@uniknode/client";
import { builders, type KeyPair, type TransactionBody } from "@uniknode/protocol";
import type { Cast } from "../../dev-chain/network.ts";
import { present } from "../../platform/present.ts";
import { SendError, type Sender } from "../../submission/sender.ts";

export type Wallet = { readonly keys: KeyPair; readonly address: string };

/** Access to a running dev chain. */
export type TriggerChain = {
  readonly client: Client;
  readonly cast: Cast;
  /** An account with funds. */
  readonly payer: Wallet;
  /** Posts a transaction; a block contains it after `mine`. */
  send(from: Pick<Wallet, "keys">, build: (sender: Sender) => TransactionBody): Promise<void>;
  /** Forges blocks immediately, with the pending transactions. */
  mine(blocks?: number): Promise<void>;
  /** Creates a wallet with enough tokens for the most expensive transaction; its keys are not stored. */
  newWallet(): Promise<Wallet>;
  /** Creates a wallet that owns a new unik, and also returns the id of the unik. */
  newOwner(): Promise<Wallet & { readonly tokenId: string }>;
};

export type Cause = { readonly how: string; readonly cause: (chain: TriggerChain) => Promise<void> };
/** Reason why an event cannot be triggered from outside the node. */
type NoCause = { readonly why: string };

const ONE = 100_000_000n;
/** Number of slots in a round of a dev chain. */
const ROUND = 6;

async function transfer(chain: TriggerChain): Promise<void> {
  const [, to = chain.payer] = chain.cast.accounts;
  const recipientId = to.address;
  await chain.send(chain.payer, ({ envelope }) =>
    builders.transfer({ ...envelope, recipientId, amount: ONE }),
  );
}

async function forgeTransfer(chain: TriggerChain): Promise<void> {
  await transfer(chain);
  await chain.mine();
}

async function revert(chain: TriggerChain): Promise<void> {
  await forgeTransfer(chain);
  await chain.client.dev.reorg({ depth: 1 });
}

async function becomeDelegate(chain: TriggerChain) {
  const owner = await disclose(chain);
  await chain.send(owner, ({ envelope }) =>
    builders.unsDelegateRegister({ ...envelope, tokenId: owner.tokenId }),
  );
  await chain.mine();
  return owner;
}

async function disclose(chain: TriggerChain) {
  const owner = await chain.newOwner();
  const { factory } = chain.cast;
  await chain.send(owner, ({ envelope }) =>
    builders.certifiedDisclosure({
      ...envelope,
      keys: owner.keys,
      tokenId: owner.tokenId,
      explicitValues: [`trigger-${owner.tokenId.slice(0, 12)}`],
      kind: 1,
      factory: { tokenId: factory.unikId, keys: factory.keys },
      issuedAt: Math.floor(Date.now() / 1_000),
    }),
  );
  await chain.mine();
  return owner;
}

async function vote(chain: TriggerChain) {
  // Only owners of a unik may vote.
  const wallet = await chain.newOwner();
  const { publicKey } = present(chain.cast.delegates[0], "a delegate").account;
  await chain.send(wallet, ({ envelope }) => builders.unsVote({ ...envelope, vote: `+${publicKey}` }));
  await chain.mine();
  return { wallet, publicKey };
}

/** Moves the clock so that slots pass without a block. */
async function missSlots(chain: TriggerChain, blocks: number): Promise<void> {
  const { data } = await chain.client.node.configuration();
  const seconds = Number((data.constants as { blocktime?: number }).blocktime ?? 2) * 2;
  for (let block = 0; block < blocks; block++) {
    await chain.client.dev.travel({ seconds });
    await chain.mine();
  }
}

const onMine: Cause = { how: "forges a block", cause: (chain) => chain.mine() };
const onTransfer: Cause = { how: "sends a transfer and forges it", cause: forgeTransfer };
const onRevert: Cause = {
  how: "forges a transfer, then reverts its block with another branch",
  cause: revert,
};
const onRound: Cause = { how: "forges a round of blocks", cause: (chain) => chain.mine(ROUND) };
const AT_START: NoCause = {
  why: "happens once, when the node starts: stop the dev chain and start it again",
};
const NEEDS_PEER: NoCause = { why: "requires another node: see docs/guides/own-network.md" };

export const CAUSES: Readonly<Record<string, Cause | NoCause>> = {
  "block.applied": onMine,
  "block.disregarded": NEEDS_PEER,
  "block.finalized": onRound,
  "block.forged": onMine,
  "block.received": onMine,
  "block.reverted": onRevert,
  "delegate.registered": {
    how: "mints and discloses a unik for a new wallet, then registers the wallet as a delegate",
    cause: async (chain) => void (await becomeDelegate(chain)),
  },
  "delegate.resigned": {
    how: "registers a new wallet as a delegate, which then resigns",
    async cause(chain) {
      const owner = await becomeDelegate(chain);
      await chain.send(owner, ({ envelope }) => builders.unsDelegateResign(envelope));
      await chain.mine();
    },
  },
  "forger.failed": { why: "requires a failure of the node, such as a full disk" },
  "forger.missing": {
    how: "moves the clock past a slot, then forges a block",
    cause: (chain) => missSlots(chain, 1),
  },
  "forger.started": AT_START,
  "peer.added": NEEDS_PEER,
  "peer.removed": NEEDS_PEER,
  "round.applied": onRound,
  "round.created": onRound,
  "round.missed": {
    how: "forges three rounds of blocks with missed slots between them",
    cause: (chain) => missSlots(chain, 3 * ROUND),
  },
  "state:started": AT_START,
  "state.started": AT_START,
  "transaction.applied": onTransfer,
  "transaction.expired": {
    how: "sends a transfer that expires, then forges another branch without it",
    async cause(chain) {
      await chain.mine();
      const { payer } = chain;
      await chain.send(payer, ({ envelope }) => ({
        ...builders.transfer({ ...envelope, recipientId: payer.address, amount: ONE }),
        expiration: present(envelope.height, "the height") + 3,
      }));
      await chain.client.dev.reorg({ depth: 1, blocks: 6 });
    },
  },
  "transaction.forged": onTransfer,
  "transaction.pool.added": { how: "sends a transfer", cause: transfer },
  "transaction.pool.rejected": {
    how: "sends a transfer that exceeds the balance of the wallet",
    async cause(chain) {
      const { payer } = chain;
      const amount = 10_000_000n * ONE;
      try {
        await chain.send(payer, ({ envelope }) =>
          builders.transfer({ ...envelope, recipientId: payer.address, amount }),
        );
      } catch (error) {
        if (!(error instanceof SendError) || error.code !== "SEND_REFUSED") throw error;
      }
    },
  },
  "transaction.pool.removed": {
    how: "sends a transfer, then restores the previous chain, which empties the pool",
    async cause(chain) {
      const { data } = await chain.client.dev.snapshot();
      await transfer(chain);
      await chain.client.dev.restore(data.id);
    },
  },
  "transaction.reverted": onRevert,
  "unik.disclosed": {
    how: "mints a unik for a new wallet, then discloses its name",
    cause: async (chain) => void (await disclose(chain)),
  },
  "unik.minted": {
    how: "mints a unik for a new wallet",
    cause: async (chain) => void (await chain.newOwner()),
  },
  "unik.transferred": {
    how: "mints a unik for a new wallet, then transfers it to another",
    async cause(chain) {
      const [owner, other] = [await chain.newOwner(), await chain.newWallet()];
      const { tokenId } = owner;
      await chain.send(owner, ({ envelope }) =>
        builders.nftTransfer({ ...envelope, tokenId, recipientId: other.address }),
      );
      await chain.mine();
    },
  },
  "unik.updated": {
    how: "mints a unik for a new wallet, then sets a property",
    async cause(chain) {
      const owner = await chain.newOwner();
      const { tokenId } = owner;
      await chain.send(owner, ({ envelope }) =>
        builders.nftUpdate({ ...envelope, tokenId, properties: { "usr/color": "red" } }),
      );
      await chain.mine();
    },
  },
  "wallet.created.cold": {
    how: "sends a transfer to a new address",
    cause: async (chain) => void (await chain.newWallet()),
  },
  "wallet.saved": onTransfer,
  "wallet.unvote": {
    how: "votes with the owner of a new unik, then withdraws the vote",
    async cause(chain) {
      const { wallet, publicKey } = await vote(chain);
      await chain.send(wallet, ({ envelope }) => builders.unsVote({ ...envelope, vote: `-${publicKey}` }));
      await chain.mine();
    },
  },
  "wallet.vote": {
    how: "votes with the owner of a new unik",
    cause: async (chain) => void (await vote(chain)),
  },
};
