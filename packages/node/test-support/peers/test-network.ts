/** Network of a test: its genesis with a delegate for each node, and a rich account. */
import {
  type Block,
  builders,
  createGenesisBlock,
  createNetwork,
  type NetworkFiles,
} from "@uniknode/protocol";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { castOf, devDescription, devMilestones, seal } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { people } from "../chain/cast.ts";

const ONE = 100_000_000n;

export type NetworkShape = {
  readonly nodes: number;
  /** Seconds of a slot. */
  readonly blocktime: number;
  /** Height from which on peers must have at least the announced version. */
  readonly stricterFrom?: number;
};

export type TestNetwork = {
  readonly files: NetworkFiles;
  readonly block: Block;
  /** One delegate for each node. */
  readonly delegates: readonly DevAccount[];
  readonly rich: DevAccount;
};

export function testNetwork({ nodes, blocktime, stricterFrom }: NetworkShape): TestNetwork {
  const cast = castOf(people, 1);
  const [base, ...later] = devMilestones(blocktime);
  const { nbDelegatesByType: _, ...common } = present(base);
  const files: NetworkFiles = {
    network: { ...devDescription(cast), name: "testworld" },
    milestones: [
      { ...common, height: 1, activeDelegates: nodes, p2p: { minimumVersions: ["^5.0.0"] } },
      ...later,
      ...(stricterFrom === undefined ? [] : [{ height: stricterFrom, p2p: { minimumVersions: ["^5.7.2"] } }]),
    ],
    exceptions: {},
  };
  const delegates = Array.from({ length: nodes }, (_, index) => people(`founder ${index}`));
  const rich = people("account 0");
  const network = createNetwork(files);
  const envelope = ({ publicKey }: DevAccount) => ({
    version: 1 as const,
    network,
    senderPublicKey: publicKey,
    timestamp: 0,
    fee: 0n,
  });
  const transactions = [
    seal(
      builders.transfer({
        ...envelope(cast.treasury),
        recipientId: rich.address,
        amount: 1_000_000n * ONE,
      }),
      cast.treasury,
    ),
    ...delegates.map((account, index) =>
      seal(builders.delegateRegistration({ ...envelope(account), username: `delegate_${index}` }), account),
    ),
  ];
  const genesis = createGenesisBlock({ files, transactions, keys: cast.treasury.keys });
  return { ...genesis, delegates, rich };
}
