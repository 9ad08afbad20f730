/** Options of the peer protocol, and how they combine with the defaults of a network. */
import { isIP } from "node:net";
import type { PeersOptions } from "../peers/peers-options.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { readJsonFile } from "../platform/json/external.ts";
import { formOf, refined } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { PROTOCOL_VERSION } from "../platform/lifecycle/program.ts";
import { optionTable, readChoice, readInteger, readList, readSwitch, readText } from "./define-option.ts";
import type { Config } from "./resolve.ts";

/** Reads the IP addresses of peers, each with the port of the network or without a port. */
function readPeers(value: unknown): readonly string[] {
  const texts = readList(value);
  const wrong = texts.find((text) => isIP(seedOf(text).ip) === 0);
  if (wrong !== undefined) throw new Error(`IP addresses are expected; "${wrong}" is not one`);
  return texts;
}

function seedOf(text: string): { readonly ip: string; readonly port: string | undefined } {
  const [, ip = "", port] =
    /^\[?([0-9a-fA-F:.]+?)\]?(?::(\d+))?$/.exec(isIP(text) === 6 ? `[${text}]` : text) ?? [];
  return { ip, port };
}

export const peerOptions = optionTable({
  p2pHost: {
    placeholder: "HOST",
    sentence:
      "Address to listen on for peers, :: for all IPv4 and IPv6 addresses; a single address is also the source address of outgoing connections.",
    default: "::",
    read: readText,
  },
  p2pPort: {
    placeholder: "PORT",
    sentence: "P2P port of the network; all nodes of a network listen on the same port.",
    oldVariables: ["CORE_P2P_PORT"],
    read: readInteger(0, 65535),
  },
  peers: {
    placeholder: "IPS",
    sentence:
      "IP addresses of seed peers, separated by commas; defaults to the seed peers of the known network.",
    default: [],
    read: readPeers,
  },
  peersFile: {
    placeholder: "FILE",
    sentence: 'File with further seed peers: {"list": [{"ip": "203.0.113.7"}], "sources": ["https://..."]}.',
    read: readText,
  },
  p2pVersion: {
    placeholder: "VERSION",
    sentence:
      "Version announced to peers; needed when the network demands a newer one than this program announces.",
    default: PROTOCOL_VERSION,
    read: readText,
  },
  p2pDiscovery: {
    placeholder: "WHOM",
    sentence:
      "Which nodes become peers: all (discovered or inbound), known (seed peers and inbound; no discovery), or none.",
    default: "all",
    read: readChoice("all", "known", "none"),
  },
  p2pMaxPeersSameSubnet: {
    placeholder: "N",
    sentence: "Maximum number of peers per IPv4 /24 or IPv6 /64; twice as many per /48.",
    default: 5,
    oldVariables: ["CORE_P2P_MAX_PEERS_SAME_SUBNET"],
    read: readInteger(1, 1_000),
  },
  p2pRateLimit: {
    placeholder: "N",
    sentence: "Maximum number of events per second and peer address.",
    default: 100,
    oldVariables: ["CORE_P2P_RATE_LIMIT"],
    read: readInteger(1, 100_000),
  },
  p2pRemoteAccess: {
    placeholder: "ADDRESSES",
    sentence:
      "Addresses of separate forgers of uns-core that use this node as their relay, separated by commas; * for any part.",
    default: ["127.0.0.1"],
    read: readList,
  },
  p2pBlacklist: {
    placeholder: "ADDRESSES",
    sentence:
      "Addresses that are refused as peers and never connected to, separated by commas; * for any part.",
    default: [],
    read: readList,
  },
  p2pLoopback: {
    sentence: "Accept loopback addresses as peers, for several nodes on one machine.",
    default: false,
    read: readSwitch,
  },
});

/** Ports and seed peers of the known networks (p2p.md 1, operations.md 2). */
const KNOWN: Readonly<Record<string, { readonly port: number; readonly seeds: readonly string[] }>> = {
  livenet: { port: 4001, seeds: ["212.47.252.24"] },
  sandbox: { port: 4002, seeds: ["51.15.218.206"] },
};
const DEFAULT_PORT = 4002;
/** Minimum in the configuration files of uns-core. */
const MIN_PEERS = 5;

/** Returns the port on which the nodes of a network listen for peers by default. */
export const defaultPeerPort = (networkName: string): number => KNOWN[networkName]?.port ?? DEFAULT_PORT;

const MAX_SEEDS = 10_000;
const MAX_SOURCES = 100;

/** A peers file in the format of the old node. */
const PEERS_FILE = {
  purpose: "peers file",
  form: formOf(
    Type.Object({
      list: Type.Array(
        Type.Object({
          ip: refined(Type.String({ description: "an IP address" }), (text) => isIP(text as string) !== 0),
        }),
        {
          maxItems: MAX_SEEDS,
          description: `a list of 0 to ${MAX_SEEDS} peers, such as {"ip": "203.0.113.7"}`,
        },
      ),
      sources: Type.Optional(
        Type.Array(
          Type.String({ pattern: "^(/|https?://)", description: "an https address or an absolute path" }),
          { maxItems: MAX_SOURCES, description: `a list of 0 to ${MAX_SOURCES} addresses and paths` },
        ),
      ),
    }),
  ),
  remedy: "correct it, or name another with --peers-file",
};

/**
 * @param networkName selects the default port and the default seed peers
 * @throws {ConfigError} when the peers file cannot be read or has another form, or a seed peer has another port than the network
 */
export function toPeersOptions(config: Config<typeof peerOptions>, networkName: string): PeersOptions {
  const known = KNOWN[networkName];
  const file = config.peersFile === undefined ? undefined : readJsonFile(config.peersFile, PEERS_FILE);
  const port = config.p2pPort ?? defaultPeerPort(networkName);
  // All nodes of a network listen on one port (p2p.md 1).
  const other = config.peers.find((text) => Number(seedOf(text).port ?? port) !== port);
  if (other !== undefined) {
    throw new ConfigError(
      `--peers ${other}: all nodes of a network listen on one port, ${port} here; give the address alone, or set --p2p-port`,
    );
  }
  const given = [...config.peers.map(seedOf), ...(file?.list ?? [])].map(({ ip }) => ip);
  return {
    host: config.p2pHost,
    port,
    seeds: given.length > 0 ? given : (known?.seeds ?? []),
    sources: file?.sources ?? [],
    version: config.p2pVersion,
    discovery: config.p2pDiscovery,
    minPeers: MIN_PEERS,
    maxPeersPerSubnet: config.p2pMaxPeersSameSubnet,
    p2pRateLimit: config.p2pRateLimit,
    remoteAccess: config.p2pRemoteAccess,
    blacklist: config.p2pBlacklist,
    allowsLoopback: config.p2pLoopback,
  };
}
