/** The genesis block of the dev chain: funds of all accounts, and the founders, which forge the first rounds. */
import {
  builders,
  createGenesisBlock,
  createNetwork,
  encodeTransaction,
  type Network,
  type NetworkFiles,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { DevAccount } from "./keys.ts";
import { type Cast, devDescription, devMilestones } from "./network.ts";

const ONE = 100_000_000n;
/** Initial balance of each account, each delegate, the factory and the foundation. */
export const START_BALANCE = 10_000n * ONE;

/** Returns the network of the dev chain and its first block. */
export const devGenesis = (cast: Cast, blockTimeSeconds: number) =>
  genesisOf(cast, {
    network: devDescription(cast),
    milestones: devMilestones(blockTimeSeconds),
    exceptions: {},
  });

/** Returns the first block of a network of this cast, and the files with its nethash. */
export function genesisOf(cast: Cast, files: NetworkFiles): ReturnType<typeof createGenesisBlock> {
  const funded = [
    ...cast.accounts,
    ...cast.delegates.map(({ account }) => account),
    cast.factory,
    cast.foundation,
  ];
  const network = createNetwork(files);
  const fromTreasury = envelopeOf(network, cast.treasury);
  const transactions = [
    ...funded.map(({ address }) =>
      seal(
        builders.transfer({ ...fromTreasury, recipientId: address, amount: START_BALANCE }),
        cast.treasury,
      ),
    ),
    ...cast.founders.map((founder, index) =>
      seal(
        builders.delegateRegistration({ ...envelopeOf(network, founder), username: `founder_${index}` }),
        founder,
      ),
    ),
  ];
  return createGenesisBlock({ files, transactions, keys: cast.treasury.keys });
}

/** Returns the members that every transaction of the block has. */
const envelopeOf = (network: Network, { publicKey }: DevAccount) => ({
  version: 1 as const,
  network,
  senderPublicKey: publicKey,
  timestamp: 0,
  fee: 0n,
});

/** Returns a transaction that its sender signed, with its bytes. */
export function seal(body: TransactionBody, { keys }: DevAccount): SealedTransaction {
  const data = signTransaction(body, keys);
  return { data, bytes: encodeTransaction(data), isVerified: true };
}
