/**
 * The network of the dev chain: the latest rules of the Unikname networks, accounts derived from the mnemonic, and the
 * genesis block with their funds and the founders, which forge the first rounds.
 */
import {
  builders,
  createGenesisBlock,
  createNetwork,
  encodeTransaction,
  type MilestoneChange,
  type Network,
  type NetworkDescription,
  type NetworkFiles,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { DevAccount, DevAccounts } from "./keys.ts";

export const DEV_ADDRESS_VERSION = 30;
const ONE = 100_000_000;

/** Elected delegates of each kind; together the delegates of a round. */
const SEATS = { individual: 3, organization: 2, network: 1 };
export const KINDS = ["individual", "organization", "network"] as const;
export type Kind = (typeof KINDS)[number];

/** Returns the value of the property `type` (state.md 3.2). */
export const typeOfKind = (kind: Kind): string => String(KINDS.indexOf(kind) + 1);

export type DevDelegate = { readonly account: DevAccount; readonly kind: Kind };

/** The accounts of the dev chain by role. */
export type Cast = {
  readonly accounts: readonly DevAccount[];
  /** Owner of the unik that certifies transactions about uniks. */
  readonly factory: DevAccount;
  readonly foundation: DevAccount;
  readonly delegates: readonly DevDelegate[];
  /** Delegates of the first rounds, until the others are elected. */
  readonly founders: readonly DevAccount[];
  /** Sender of the premine. */
  readonly treasury: DevAccount;
};

export function castOf(accounts: DevAccounts, accountCount: number): Cast {
  const kinds = KINDS.flatMap((kind) => Array.from({ length: SEATS[kind] }, () => kind));
  return {
    accounts: Array.from({ length: accountCount }, (_, index) => accounts(`account ${index}`)),
    factory: accounts("factory"),
    foundation: accounts("foundation"),
    delegates: kinds.map((kind, index) => ({ kind, account: accounts(`delegate ${index}`) })),
    founders: kinds.map((_, index) => accounts(`founder ${index}`)),
    treasury: accounts("treasury"),
  };
}

/** Symbol of displayed amounts. */
export const DEV_SYMBOL = "DEVUNIK";

export const DEV_NAME = "uniknode-dev";

/** Returns the content of `network.json` of the dev chain; `createGenesisBlock` sets the nethash. */
export const devDescription = (cast: Cast): NetworkDescription => ({
  name: DEV_NAME,
  messagePrefix: "uniknode-dev message:\n",
  bip32: { public: 46090600, private: 46089520 },
  pubKeyHash: DEV_ADDRESS_VERSION,
  nethash: "",
  wif: 218,
  slip44: 1,
  aip20: 1,
  client: { token: "devunik", symbol: DEV_SYMBOL, explorer: "" },
  transactionsConfig: { delegateRegistration: { enable: false }, delegateResignation: { enable: false } },
  forgeFactory: { unikidWhiteList: [cast.factory.unikId] },
  foundation: { publicKey: cast.foundation.publicKey },
  delegateWhitelistUniks: cast.delegates
    .filter(({ kind }) => kind === "network")
    .map(({ account }) => account.unikId),
});

/** Returns the rules of livenet's last milestone, with two differences: uncertified mints are allowed, and locks are enabled. */
export const devMilestones = (blockTimeSeconds: number): MilestoneChange[] => [
  {
    height: 1,
    reward: ONE,
    activeDelegates: SEATS.individual + SEATS.organization + SEATS.network,
    blocktime: blockTimeSeconds,
    block: {
      version: 0,
      maxTransactions: 500,
      maxPayload: 21_000_000,
      acceptExpiredTransactionTimestamps: false,
      idFullSha256: false,
    },
    epoch: "2024-01-01T00:00:00.000Z",
    fees: { staticFees: STATIC_FEES },
    ignoreInvalidSecondSignatureField: false,
    vendorFieldLength: 255,
    ignoreExpiredTransactions: false,
    multiPaymentLimit: 128,
    nbDelegatesByType: SEATS,
    disableArkLegacyVote: true,
    unsTokenEcoV2: true,
    unsTokenEcoV3: true,
    urlCheckers: [],
    // Peers may have any version, because several nodes can share one dev chain.
    p2p: { minimumVersions: ["*"] },
    voucherRewards: {
      individual: { forger: 0, sender: 0, foundation: 0 },
      organization: { forger: 0, sender: 0, foundation: 0 },
      network: { forger: 0, sender: 0, foundation: 0 },
    },
  },
  { height: 2, aip11: true, htlcEnabled: true, block: { idFullSha256: true } },
];

const STATIC_FEES = {
  transfer: 0.1 * ONE,
  secondSignature: 5 * ONE,
  delegateRegistration: 25 * ONE,
  vote: ONE,
  multiSignature: 5 * ONE,
  ipfs: 5 * ONE,
  multiPayment: 0.1 * ONE,
  delegateResignation: 25 * ONE,
  htlcLock: 0.1 * ONE,
  htlcClaim: 0,
  htlcRefund: 0,
  UnsCertifiedNftMint: ONE,
  UnsCertifiedNftUpdate: ONE,
};

/** Initial balance of each account, each delegate, the factory and the foundation. */
export const START_BALANCE = 10_000n * BigInt(ONE);

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
