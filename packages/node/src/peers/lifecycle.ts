/** Who the peers of a node are: found, verified, kept, and left again (p2p.md 10). */
import { randomUUID } from "node:crypto";
import type { Network, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import { clientGroup } from "../platform/addresses/groups.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import type { PeerStore } from "../store/node/peers.ts";
import { type Candidates, createCandidates } from "./discovery/candidates.ts";
import { createDiscovery, type Discovery } from "./discovery/discovery.ts";
import { createPing } from "./discovery/ping.ts";
import { createReturning } from "./discovery/reconnect.ts";
import { allowedVersions, isVersionAllowed } from "./discovery/version-gate.ts";
import { type Bans, createBans } from "./guards/bans.ts";
import { localAddressOf, type PeersOptions } from "./options.ts";
import type { Peer } from "./table/peer.ts";
import { createRegister, type Fate, type Register } from "./table/peer-table.ts";
import { matchesAddress } from "./transport/address-patterns.ts";
import { createOutgoing, type Outgoing } from "./transport/client.ts";
import { createTraffic, type Traffic } from "./transport/traffic.ts";
import type { VerifyDeps } from "./verification/verify-chain.ts";

export type AcquaintanceDeps = Pick<VerifyDeps, "rounds" | "verify"> & {
  readonly network: Network;
  readonly slots: Slots;
  readonly chain: Chain;
  readonly store: PeerStore;
  readonly onPeer: (peer: Peer, fate: Fate) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Acquaintance = {
  readonly register: Register;
  readonly outgoing: Outgoing;
  readonly candidates: Candidates;
  readonly discovery: Discovery;
  readonly bans: Bans;
  readonly traffic: Traffic;
  /** Whether an address is neither heard nor called. */
  readonly isRefused: (address: string) => boolean;
  /** Random text by which this process knows itself when it meets itself. */
  readonly processId: string;
};

/** @param closing is told how to end what is opened */
export function createAcquaintance(
  options: PeersOptions,
  deps: AcquaintanceDeps,
  closing: Pick<Closing, "add">,
): Acquaintance {
  const { network, slots, rounds, chain, store, logger, nowMs } = deps;
  const processId = randomUUID();
  const traffic = createTraffic();
  const register = createRegister((peer, fate) => {
    if (fate === "removed") returning.lost(peer.ip);
    deps.onPeer(peer, fate);
  });
  const outgoing = createOutgoing(
    { port: options.port, localAddress: localAddressOf(options) },
    { network, onHeight: register.setHeight, onSocket: traffic.watch },
  );
  closing.add("outgoing connections", outgoing.close);
  function leave(ip: string): void {
    register.remove(ip);
    outgoing.disconnect(ip);
  }
  const bans = createBans({
    store,
    nowMs,
    logger,
    onBan(ip) {
      leave(ip);
      store.forget(ip);
      for (const peer of register.all()) if (clientGroup(peer.ip) === clientGroup(ip)) leave(peer.ip);
    },
  });
  const isWhitelisted = matchesAddress(options.whitelist);
  const isBlacklisted = matchesAddress(options.blacklist);
  const isRefused = (address: string) => bans.isBanned(address) || isBlacklisted(address);

  const ping = createPing({
    processId,
    network,
    slots,
    rounds,
    state: chain.state,
    verify: deps.verify,
    now: () => slots.timeAt(nowMs()),
    head: chain.head,
    header: chain.blocks.header,
    register,
    ask: outgoing.ask,
  });
  const candidates = createCandidates(
    {
      takesNobody: options.discovery === "none",
      maxPeersPerSubnet: options.maxPeersPerSubnet,
      loopback: options.takesLoopback ? { own: options.host } : undefined,
    },
    {
      register,
      ping,
      isBanned: (ip) => isRefused(ip) || !isWhitelisted(ip),
      disconnect: outgoing.disconnect,
      logger,
    },
  );
  const returning = createReturning((ip) => candidates.submit(ip));
  closing.add("lost peers", returning.close);
  const { seeds, sources, minPeers } = options;
  const isOpen = options.discovery === "all";
  const discovery = createDiscovery(
    { seeds, sources, minPeers, isOpen },
    { register, candidates, ping, outgoing, store, nowMs, logger },
  );
  closing.add("discovery", discovery.close);

  // Versions that a milestone rules out are left with its block (p2p.md 10.5).
  const unsubscribe = chain.subscribe(({ applied }) => {
    if (!applied.some(({ block }) => network.isMilestone(block.header.height))) return;
    const ranges = allowedVersions(network, chain.head().height);
    for (const { ip, status } of register.all()) {
      if (!isVersionAllowed(status.config.version, ranges, network.description.name)) leave(ip);
    }
  });
  closing.add("versions", unsubscribe);

  return { register, outgoing, candidates, discovery, bans, traffic, isRefused, processId };
}
