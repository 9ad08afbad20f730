/** Submits a block of this node: to the peers room, which also broadcasts it, or only to the chain. */
import type { EncodedBlock } from "@uniknode/protocol";
import { refusalOf } from "../../chain/outcome.ts";
import type { Chain } from "../../chain/port.ts";
import { eventOfArrival } from "../../events/block-events.ts";
import type { Peers } from "../../peers/peers.ts";
import { present } from "../../platform/present.ts";
import type { NodeEventLog } from "./event-log.ts";

export type OwnBlocksDeps = Pick<NodeEventLog, "events" | "log"> & {
  readonly chain: Pick<Chain, "accept">;
  /** Absent for a node without peers. */
  readonly peers: Pick<Peers, "submitBlock"> | undefined;
};

/** Submits a block to the chain; resolves to the reason of a refusal, or undefined. */
export type SubmitBlock = (block: EncodedBlock) => Promise<string | undefined>;

export function createSubmitBlock({ chain, peers, events, log }: OwnBlocksDeps): SubmitBlock {
  if (peers) return peers.submitBlock;
  return async (block) => {
    if (events.isRecorded("block.received")) log(eventOfArrival(block, "received"));
    return refusalOf(present((await chain.accept([block]))[0], "the outcome of a block"));
  };
}
