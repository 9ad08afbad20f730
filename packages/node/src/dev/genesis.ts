/** The genesis block of the dev chain: everybody's funds, and the founders who forge its first rounds. */
import {
  createGenesisBlock,
  encodeTransaction,
  type GenesisDraft,
  type NetworkFiles,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { Person } from "./keys.ts";
import { type Cast, DEV_ADDRESS_VERSION, devDescription, devMilestones } from "./network.ts";

const ONE = 100_000_000n;
/** What each account, delegate, the factory and the foundation start with. */
export const START_BALANCE = 10_000n * ONE;

/** The network of the dev chain and its first block. */
export function devGenesis(cast: Cast, blockTimeSeconds: number): ReturnType<typeof createGenesisBlock> {
  const files: NetworkFiles = {
    network: devDescription(cast),
    milestones: devMilestones(blockTimeSeconds),
    exceptions: {},
  };
  const funded = [
    ...cast.accounts,
    ...cast.delegates.map(({ person }) => person),
    cast.factory,
    cast.foundation,
  ];
  const transactions: GenesisDraft["transactions"] = [
    ...funded.map(({ address }) => funding(cast.treasury, address)),
    ...cast.founders.map((founder, index) => registration(founder, `founder_${index}`)),
  ];
  return createGenesisBlock({ files, transactions, keys: cast.treasury.keys });
}

/** Members common to all transactions of a genesis block. */
const genesisBody = ({ publicKey }: Person) => ({
  version: 1,
  network: DEV_ADDRESS_VERSION,
  typeGroup: 1,
  timestamp: 0,
  fee: 0n,
  senderPublicKey: publicKey,
});

const funding = (treasury: Person, recipientId: string): SealedTransaction =>
  seal({ ...genesisBody(treasury), type: 0, amount: START_BALANCE, recipientId, expiration: 0 }, treasury);

const registration = (founder: Person, username: string): SealedTransaction =>
  seal({ ...genesisBody(founder), type: 2, amount: 0n, asset: { delegate: { username } } }, founder);

/** A transaction signed by its sender, with its bytes. */
export function seal(body: TransactionBody, { keys }: Person): SealedTransaction {
  const data = signTransaction(body, keys);
  return { data, bytes: encodeTransaction(data), isVerified: true };
}
