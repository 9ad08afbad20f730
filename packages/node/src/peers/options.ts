/** What can be set of the peers. */
import { isIP } from "node:net";

export type PeersOptions = {
  /** Address to listen on, `::` for all; a single one is also the address that connections come from. */
  readonly host: string;
  /** Port of the whole network (p2p.md 1); 0 takes a free one, with which nobody is found. */
  readonly port: number;
  /** Addresses to begin with. */
  readonly seeds: readonly string[];
  /** URLs and files of further ones, of which the first that can be read counts. */
  readonly sources: readonly string[];
  /** Version that this node announces (p2p.md 10.5). */
  readonly version: string;
  /** Who may become a peer (p2p.md 10.2): everybody; the first ones and callers; nobody. */
  readonly discovery: "all" | "known" | "none";
  /** Below so many peers, more are looked for. */
  readonly minPeers: number;
  /** Of one /24. */
  readonly maxPeersPerSubnet: number;
  /** That one address may send in a second. */
  readonly eventsPerSecond: number;
  /** Patterns of the addresses that may use internal events: those of separate forgers. */
  readonly remoteAccess: readonly string[];
  /** Patterns of the addresses that may become peers; whole addresses are free of the rate limits. */
  readonly whitelist: readonly string[];
  /** Patterns of the addresses that are neither heard nor called. */
  readonly blacklist: readonly string[];
  /** Take loopback addresses as peers: several nodes share a machine. */
  readonly allowsLoopback: boolean;
};

/** Addresses that listen to every interface are no address to come from. */
const EVERY_ADDRESS = ["0.0.0.0", "::"];

/** Address that connections come from; any of this host if absent. */
export const localAddressOf = ({ host }: Pick<PeersOptions, "host">): string | undefined =>
  isIP(host) === 0 || EVERY_ADDRESS.includes(host) ? undefined : host;
