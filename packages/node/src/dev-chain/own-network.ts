/** Creates a private network: its rules, its genesis block, and the keys of its delegates and first accounts. */
import type { GenesisDraft, NetworkFiles } from "@uniknode/protocol";
import { genesisOf } from "./genesis.ts";
import { deriveAccounts } from "./keys.ts";
import { type Cast, castOf, DEV_ADDRESS_VERSION, devDescription, devMilestones } from "./network.ts";

/** Nodes of the reference refuse a longer symbol and an empty explorer (networks.md 1). */
const CLIENT = { token: "ownunik", symbol: "OUNIK", explorer: "http://127.0.0.1:4003/console/" };

export type OwnNetworkOptions = {
  /** Lower-case letters, digits and hyphens; 20 at most. */
  readonly name: string;
  readonly blockTimeSeconds: number;
  /** Funded accounts. */
  readonly accounts: number;
  /** Mnemonic from which every key is derived. */
  readonly mnemonic: string;
};

export type OwnNetwork = ReturnType<typeof genesisOf> & { readonly cast: Cast; readonly mnemonic: string };

/** Creates a network with the rules of a dev chain, and its own keys, name and nethash. */
export function createOwnNetwork({
  name,
  blockTimeSeconds,
  accounts,
  mnemonic,
}: OwnNetworkOptions): OwnNetwork {
  const cast = castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
  const files: GenesisDraft["files"] & NetworkFiles = {
    network: { ...devDescription(cast), name, messagePrefix: `${name} message:\n`, client: CLIENT },
    milestones: devMilestones(blockTimeSeconds),
    exceptions: {},
  };
  return { ...genesisOf(cast, files), cast, mnemonic };
}

/** Distributes the passphrases of the delegates among nodes in turn. */
export const dealDelegates = ({ founders }: Cast, nodes: number): string[][] =>
  Array.from({ length: nodes }, (_, node) =>
    founders.filter((_founder, index) => index % nodes === node).map(({ passphrase }) => passphrase),
  );
