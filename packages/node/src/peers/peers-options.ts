/** Options of the peers. */
import { isIP } from "node:net";

export type PeersOptions = {
  /** Address to listen on, `::` for all; a single address is also the source of outgoing connections. */
  readonly host: string;
  /** Port of the whole network (p2p.md 1). 0: any free port, where no peer finds this node. */
  readonly port: number;
  /** Addresses that are dialled first. */
  readonly seeds: readonly string[];
  /** URLs and files with further seeds; the first that can be read is used. */
  readonly sources: readonly string[];
  /** Version that this node announces (p2p.md 10.5). */
  readonly version: string;
  /** Addresses that may become peers (p2p.md 10.2): all; only seeds and callers; none. */
  readonly discovery: "all" | "known" | "none";
  /** Minimum number of peers, below which discovery searches for more. */
  readonly minPeers: number;
  /** Peers in one /24. */
  readonly maxPeersPerSubnet: number;
  /** Events that one address may send in a second. */
  readonly p2pRateLimit: number;
  /** Patterns of the addresses that may use internal events, which separate forgers send; complete addresses are exempt from the rate limits. */
  readonly remoteAccess: readonly string[];
  /** Patterns of the addresses that are neither accepted nor dialled. */
  readonly blacklist: readonly string[];
  /** Accept loopback addresses as peers, for several nodes on one machine. */
  readonly allowsLoopback: boolean;
};

/** Wildcard addresses, which are not a source address of a connection. */
const WILDCARD_ADDRESSES = ["0.0.0.0", "::"];

/** Source address of outgoing connections; any of this host if absent. */
export const localAddressOf = ({ host }: Pick<PeersOptions, "host">): string | undefined =>
  isIP(host) === 0 || WILDCARD_ADDRESSES.includes(host) ? undefined : host;
