/** Builds the reply to `getStatus`: the description of this node (p2p.md 7.2). */
import { type BlockHeader, headerToJson, type Network, type Slots } from "@uniknode/protocol";
import { type Plugin, type Status, UNIKNODE_PROTOCOL } from "../wire/replies/results.ts";

export type StatusDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly head: () => BlockHeader;
  /** Network time in seconds. */
  readonly now: () => number;
  /** Announced version. */
  readonly version: string;
  /** Other services of this node, at least one. */
  readonly plugins: Readonly<Record<string, Plugin>>;
  /** Random text that identifies this process. */
  readonly processId: string;
};

export function buildStatus(deps: StatusDeps): Status {
  const { network, slots, head, now, version, plugins, processId } = deps;
  // Read once, so that height and header are of the same block.
  const header = head();
  const { name, nethash, pubKeyHash, client } = network.description;
  return {
    state: {
      height: header.height,
      forgingAllowed: slots.isForgingPhase(now()),
      currentSlot: slots.slotAt(now()),
      header: headerToJson(header),
    },
    config: {
      version,
      network: {
        version: pubKeyHash,
        // Peers do not compare the names, but reject long ones.
        name: name.slice(0, 20),
        nethash,
        explorer: client.explorer.slice(0, 128),
        token: { name: client.token.slice(0, 8), symbol: client.symbol.slice(0, 5) },
      },
      plugins,
      uniknode: { protocol: UNIKNODE_PROTOCOL, processId },
    },
  };
}
