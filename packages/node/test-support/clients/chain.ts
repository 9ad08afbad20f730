/** Node of a network on which every base type is active, with a block for each submission. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockToJson,
  builders,
  createGenesisBlock,
  createNetwork,
  type NetworkFiles,
  type TransactionBody,
} from "@uniknode/protocol";
import { pino } from "pino";
import { runOptions } from "../../src/config/options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import {
  castOf,
  DEV_ADDRESS_VERSION,
  devDescription,
  devMilestones,
  seal,
} from "../../src/dev-chain/network.ts";
import { delegatesFromSecrets } from "../../src/forger/delegates.ts";
import { soloTiming } from "../../src/forger/slot-state.ts";
import { present } from "../../src/platform/present.ts";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool-options.ts";
import { startNode } from "../../src/processes/node/node.ts";
import { ServingThread } from "../../src/processes/serving/thread.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const ONE = 100_000_000n;
const BLOCK_TIME_SECONDS = 1;

const cast = castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), 8);
export const people = cast.accounts;

function filesWithEverything(): NetworkFiles {
  const { transactionsConfig: _, ...network } = devDescription(cast);
  const [first, second] = devMilestones(BLOCK_TIME_SECONDS);
  const { disableArkLegacyVote, nbDelegatesByType, ...rules } = present(first);
  return { network, milestones: [rules, { ...present(second), htlcEnabled: true }], exceptions: {} };
}

function createGenesis() {
  const files = filesWithEverything();
  const network = createNetwork(files);
  const envelope = { version: 1 as const, network, timestamp: 0, fee: 0n };
  const { treasury, founders } = cast;
  const funds: TransactionBody[] = people.map(({ address }) =>
    builders.transfer({
      ...envelope,
      senderPublicKey: treasury.publicKey,
      recipientId: address,
      amount: 10_000n * ONE,
    }),
  );
  const registrations = founders.map((founder, index) =>
    seal(
      builders.delegateRegistration({
        ...envelope,
        senderPublicKey: founder.publicKey,
        username: `founder_${index}`,
      }),
      founder,
    ),
  );
  return createGenesisBlock({
    files,
    transactions: [...funds.map((body) => seal(body, treasury)), ...registrations],
    keys: treasury.keys,
  });
}

export async function serveEverything() {
  const { block, files } = createGenesis();
  const data = mkdtempSync(join(tmpdir(), "uniknode-clients-"));
  const flags = { data, httpPort: 0, rateLimit: 0, logLevel: "silent" };
  const node = await startNode(
    {
      ...resolveConfig(runOptions, { flags, environment: {} }),
      assumeValid: undefined,
      delegates: delegatesFromSecrets(cast.founders.map(({ passphrase }) => passphrase)),
      peers: undefined,
      pool: DEFAULT_POOL_OPTIONS,
      watchRounds: undefined,
      timing: soloTiming,
      isOnDemand: true,
    },
    {
      files,
      genesis: block,
      genesisBlock: blockToJson(block),
      nowMs: Date.now,
      logger: pino({ level: "silent" }),
      servingThread: new ServingThread(),
    },
  );
  node.startForging();
  return {
    url: node.url,
    webhookToken: node.webhookToken,
    async stop() {
      await node.stop();
      rmSync(data, { recursive: true });
    },
  };
}
