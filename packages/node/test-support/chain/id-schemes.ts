/** Chains of empty blocks, after networks with partial ids, with full ids, and with a change between them. */
import {
  createNetwork,
  dalinet,
  type EncodedBlock,
  encodeHeader,
  forgeBlock,
  type Network,
} from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import { bob, carol, chain } from "../http/chain.ts";

export type IdScheme = "partial ids" | "full ids from height 2" | "full ids from height 4";

const FULL_FROM: Readonly<Record<IdScheme, number | undefined>> = {
  "partial ids": undefined,
  "full ids from height 2": 2,
  "full ids from height 4": 4,
};
export const ID_SCHEMES = Object.keys(FULL_FROM) as IdScheme[];

const LAST_HEIGHT = 8;

/** Returns the network and its blocks, from the genesis block of the small chain on. */
export function chainOfScheme(scheme: IdScheme): {
  readonly network: Network;
  readonly blocks: EncodedBlock[];
} {
  const from = FULL_FROM[scheme];
  const first = present(dalinet.milestones[0], "the first milestone");
  const network = createNetwork({
    ...dalinet,
    milestones: [
      { ...first, block: { ...(first.block as object), idFullSha256: false } },
      ...(from === undefined ? [] : [{ height: from, block: { idFullSha256: true } }]),
    ],
  });
  const genesis = present(chain.blocks[0], "the genesis block");
  const blocks: EncodedBlock[] = [{ ...genesis, headerBytes: encodeHeader(genesis.header, network) }];
  for (let height = 2; height <= LAST_HEIGHT; height++) {
    const previous = present(blocks.at(-1), "the block below").header;
    const { keys } = height % 3 === 0 ? bob : carol;
    blocks.push(forgeBlock({ network, timestamp: 8 * height, previous, transactions: [] }, keys));
  }
  return { network, blocks };
}
