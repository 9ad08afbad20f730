/** Logs the state of the network before a slot of this node (forger.md 4), without effect on forging. */
import type { Logger } from "pino";
import type { NetworkState } from "../wire/replies/results.ts";
import { isQuorumEnough, quorumOf } from "./quorum.ts";

export type ReportDeps = {
  /** Returns true if this node forges with the key. */
  readonly isOwnDelegate: (publicKey: string) => boolean;
  readonly logger: Logger;
};

export function reportNetworkState({ nodeHeight, quorumDetails }: NetworkState, deps: ReportDeps): void {
  const { isOwnDelegate, logger } = deps;
  const { peersOverHeightBlockHeaders, ...figures } = quorumDetails;
  const quorum = quorumOf(figures);
  const level = isQuorumEnough(quorum) ? "debug" : "info";
  logger[level]({ height: nodeHeight, quorum, ...figures }, "about to forge");
  for (const { height, id, generatorPublicKey } of Object.values(peersOverHeightBlockHeaders)) {
    if (!isOwnDelegate(generatorPublicKey)) continue;
    logger.warn(
      { height, id, generatorPublicKey },
      "another process appears to forge with a key of this node",
    );
  }
}
