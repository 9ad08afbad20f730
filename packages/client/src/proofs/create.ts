/** Creates checkpoints from a node that is trusted. */
import { createNetwork, createRounds, type Network, type NetworkFiles, quorumOf } from "@uniknode/protocol";
import type { Client } from "../api/client.ts";
import type { RawBlock } from "../api/resources/blocks.ts";
import type { CryptoConfiguration } from "../api/resources/node.ts";
import { type Checkpoint, CheckpointError, MAX_DELEGATES, readCheckpoint } from "./checkpoint.ts";
import { isIntegerIn, isRecord } from "./values.ts";

/** Rounds above a round in which a quorum must have signed. */
const ROUNDS_ABOVE = 2;
/** Number of rounds below the head in which final ones are searched. */
const MAX_ROUNDS = 16;
/** Number of final rounds that are compared. */
const MAX_CANDIDATES = 3;

/**
 * Creates a checkpoint of one of the last final rounds: of three, the one in which the most delegates signed, so that the client
 * need not renew it when some of them stop. The node at the URL of the client is trusted: use your own, or compare the
 * checkpoints of several.
 *
 * @throws {CheckpointError} if there is no such round
 * @throws {ApiError}
 */
export async function createCheckpoint(client: Client): Promise<Checkpoint> {
  const { blockchain, node } = client;
  const [{ data: chain }, { data: configuration }] = await Promise.all([
    blockchain.get(),
    node.cryptoConfiguration(),
  ]);
  const network = readNetwork(configuration);
  const { roundAt } = createRounds(network);
  let { roundHeight } = roundAt(chain.block.height);
  let candidates = 0;
  let fullest: readonly RawBlock[] = [];
  for (let round = 0; round < MAX_ROUNDS && candidates < MAX_CANDIDATES && roundHeight > 1; round++) {
    const { maxDelegates } = roundAt(roundHeight);
    const found = await readBlocks(client, roundHeight, (1 + ROUNDS_ABOVE) * maxDelegates);
    if (hasFullIds(network, roundHeight) && isFinal(found, maxDelegates)) {
      candidates++;
      const ended = found.slice(0, maxDelegates);
      if (generatorsOf(ended).length > generatorsOf(fullest).length) fullest = ended;
      if (generatorsOf(fullest).length === maxDelegates) break;
    }
    ({ roundHeight } = roundAt(roundHeight - 1));
  }
  if (fullest.length > 0) return toCheckpoint(network, fullest);
  throw new CheckpointError(
    "CHECKPOINT_UNAVAILABLE",
    "the chain has no final round near its head: wait until two thirds of the delegates have forged for three rounds",
  );
}

async function readBlocks({ blocks }: Client, from: number, count: number): Promise<RawBlock[]> {
  const found: RawBlock[] = [];
  const height = { from, to: from + count - 1 };
  const list = blocks.search({ height, orderBy: "height:asc" }, { transform: false });
  for await (const block of list) found.push(block);
  return found;
}

/** Reads only the members that a checkpoint needs, which `readCheckpoint` checks: nodes of other versions have others, too. */
function readNetwork({ network, milestones, exceptions }: CryptoConfiguration): Network {
  const isReadable = isRecord(network) && Array.isArray(milestones) && milestones.every(isChange);
  if (!isReadable)
    throw new CheckpointError(
      "CHECKPOINT_UNAVAILABLE",
      "the node has no configuration of a network: check its URL",
    );
  return createNetwork({ network, milestones, exceptions } as unknown as NetworkFiles);
}

const isChange = (value: unknown): boolean =>
  isRecord(value) &&
  isIntegerIn(value.height, 1, Number.MAX_SAFE_INTEGER) &&
  (value.block === undefined || isRecord(value.block)) &&
  (value.activeDelegates === undefined || isIntegerIn(value.activeDelegates, 1, MAX_DELEGATES));

const hasFullIds = (network: Network, height: number): boolean =>
  network.milestoneAt(height - 1).block?.idFullSha256 === true;

const generatorsOf = (blocks: readonly RawBlock[]): string[] =>
  [...new Set(blocks.map(({ generatorPublicKey }) => generatorPublicKey))].sort();

/** Returns true if two thirds of the delegates signed in the round, and again at or above its last block. */
function isFinal(blocks: readonly RawBlock[], delegates: number): boolean {
  const keys = generatorsOf(blocks.slice(0, delegates));
  const above = generatorsOf(blocks.slice(delegates - 1)).filter((key) => keys.includes(key));
  return blocks.length >= delegates && above.length >= quorumOf(delegates);
}

/** @throws {CheckpointError} */
function toCheckpoint({ description, milestones }: Network, round: readonly RawBlock[]): Checkpoint {
  const [first] = milestones;
  const last = round.at(-1);
  const changes = milestones.filter(
    ({ activeDelegates }, index) => activeDelegates !== milestones[index - 1]?.activeDelegates,
  );
  return readCheckpoint({
    network: {
      nethash: description.nethash,
      addressVersion: description.pubKeyHash,
      epoch: first?.epoch,
      blockTime: first?.blocktime,
      delegates: changes.map(({ height, activeDelegates }) => ({ height, count: activeDelegates })),
    },
    height: last?.height,
    id: last?.id,
    timestamp: last?.timestamp,
    keys: generatorsOf(round),
  });
}
