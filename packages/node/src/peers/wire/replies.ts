/** Reads replies of peers (p2p.md 7): validates them, and drops unknown members, however many a peer sends. */
import { isIP } from "node:net";
import { headerViolation, type Network } from "@uniknode/protocol";
import { formOf, refined } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { runAtOnce, type Steps } from "../../platform/threads/time-slices.ts";
import { isRecord, type UntrustedRecord, unpackBlocks } from "./codec.ts";
import { type EventName, type Plugin, UNIKNODE_PROTOCOL } from "./events.ts";
import { MAX_BLOCKS, MAX_PEERS } from "./limits.ts";
import { WireError } from "./wire-error.ts";

/** A header whose members have the right form, but may contradict each other. Other members may be missing. */
export type ReceivedHeader = UntrustedRecord & {
  id: string;
  height: number;
  timestamp: number;
  previousBlock: string;
  generatorPublicKey: string;
  blockSignature: string;
};

/** A block for `blockFromPeerJson`. */
export type ReceivedBlock = ReceivedHeader & { transactions?: string[] };

const HEADER_MEMBERS: readonly string[] = [
  "id",
  "idHex",
  "version",
  "timestamp",
  "height",
  "previousBlock",
  "previousBlockHex",
  "numberOfTransactions",
  "totalAmount",
  "totalFee",
  "reward",
  "payloadLength",
  "payloadHash",
  "generatorPublicKey",
  "blockSignature",
];

/** Members that may be missing in a reply, with placeholders of the right form. */
const OPTIONAL_MEMBERS = { version: 0, payloadLength: 0, payloadHash: "00" };

/** @throws {WireError} REPLY_FORM */
function readHeader(header: UntrustedRecord, network: Network): ReceivedHeader {
  const known: UntrustedRecord = {};
  for (const member of HEADER_MEMBERS) if (Object.hasOwn(header, member)) known[member] = header[member];
  const path = headerViolation({ ...OPTIONAL_MEMBERS, ...known }, network);
  if (path) throw new WireError("REPLY_FORM", `the member ${path} of a header is invalid`);
  return known as ReceivedHeader;
}

/**
 * Reads the first `limit` blocks of a reply, one in each step.
 *
 * @throws {WireError} REPLY_FORM
 */
function* readBlocksGradually(
  data: unknown,
  network: Network,
  limit = MAX_BLOCKS,
): Generator<void, ReceivedBlock[]> {
  if (!Array.isArray(data) || data.length > MAX_BLOCKS) throw blocksError();
  const blocks: ReceivedBlock[] = [];
  for (const block of data.slice(0, limit)) {
    if (blocks.length > 0) yield;
    blocks.push(readBlock(block, network));
  }
  return blocks;
}

function readBlock(block: unknown, network: Network): ReceivedBlock {
  if (!isRecord(block)) throw blocksError();
  const { transactions } = block;
  if (transactions === undefined) return readHeader(block, network);
  if (!Array.isArray(transactions) || transactions.some((bytes) => typeof bytes !== "string")) {
    throw blocksError();
  }
  return { ...readHeader(block, network), transactions };
}

const blocksError = () =>
  new WireError("REPLY_FORM", "the result of p2p.peer.getBlocks is invalid: a list of blocks is expected");

/** `header` is undefined if the peer sent none. */
export type ReceivedStatus = {
  state: { height: number; forgingAllowed: boolean; currentSlot: number; header: ReceivedHeader | undefined };
  config: Omit<Static<typeof status>["config"], "uniknode">;
  /** True if the peer is a Uniknode, which supports the additive events. */
  isUniknode: boolean;
  /** Random text of the peer's process, by which a node recognises itself. */
  processId: string | undefined;
};

/** Null if the peer has none of the blocks. */
type ReceivedCommonBlock = { height: number; id: string } | null;

/** The validated result of each event. */
export type Received = {
  "p2p.peer.getPeers": { ip: string }[];
  "p2p.peer.getStatus": ReceivedStatus;
  "p2p.peer.getCommonBlocks": ReceivedCommonBlock;
  "p2p.peer.getBlocks": ReceivedBlock[];
  "p2p.peer.postBlock": undefined;
  "p2p.peer.postTransactions": undefined;
  /** Serialized blocks. */
  "uniknode.peer.getBlocks": Uint8Array[];
  "uniknode.peer.getGenesis": UntrustedRecord;
};

/** Events between nodes. */
export type PeerEvent = EventName & keyof Received;

/**
 * Validates the result of an event, and drops unknown members.
 *
 * @throws {WireError} REPLY_FORM
 */
export const readResult = <E extends PeerEvent>(event: E, data: unknown, network: Network): Received[E] =>
  readers[event](data, network);

/**
 * The same, with steps for a result with blocks.
 *
 * @param limit maximum number of blocks: further ones are not read
 * @throws {WireError} REPLY_FORM
 */
export function* readResultGradually<E extends PeerEvent>(
  event: E,
  data: unknown,
  network: Network,
  limit: number | undefined,
): Steps<Received[E]> {
  if (event !== "p2p.peer.getBlocks") return readResult(event, data, network);
  return (yield* readBlocksGradually(data, network, limit)) as Received[E];
}

const count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const textOf = (minLength: number, maxLength: number) => Type.String({ minLength, maxLength });

const PLUGIN_NAME = "^.{4,64}$";

const status = Type.Object({
  state: Type.Object({
    height: count,
    forgingAllowed: Type.Boolean(),
    currentSlot: count,
    header: Type.Unknown(),
  }),
  config: Type.Object({
    version: textOf(5, 24),
    network: Type.Object({
      version: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
      name: textOf(1, 20),
      nethash: Type.String({ pattern: "^[0-9a-fA-F]{64}$" }),
      explorer: textOf(0, 128),
      token: Type.Object({ name: textOf(1, 8), symbol: textOf(1, 5) }),
    }),
    plugins: Type.Record(
      Type.String({ pattern: PLUGIN_NAME }),
      Type.Object({ enabled: Type.Boolean(), port: Type.Integer({ minimum: 0, maximum: 65_535 }) }),
      { minProperties: 1, maxProperties: 32 },
    ),
    uniknode: Type.Optional(Type.Unknown()),
  }),
});

const common = Type.Object({
  common: Type.Union([
    Type.Object({
      height: count,
      id: Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{16}|[0-9a-fA-F]{64})$" }),
    }),
    Type.Null(),
  ]),
});

const peers = Type.Array(Type.Object({ ip: refined(Type.String(), (text) => isIP(text as string) !== 0) }), {
  maxItems: MAX_PEERS,
});

const statusForm = formOf(status);
const commonForm = formOf(common);
const peersForm = formOf(peers);

const readers: { [E in PeerEvent]: (data: unknown, network: Network) => Received[E] } = {
  "p2p.peer.getPeers": (data) => {
    if (!peersForm.is(data)) throw formError("p2p.peer.getPeers", peersForm.violation(data));
    return data.map(({ ip }) => ({ ip }));
  },
  "p2p.peer.getStatus": (data, network) => {
    if (!statusForm.is(data)) throw formError("p2p.peer.getStatus", statusForm.violation(data));
    const { state, config } = data;
    const { height, forgingAllowed, currentSlot, header } = state;
    if (!isRecord(header)) throw formError("p2p.peer.getStatus", "/state/header must be object");
    const isEmpty = Object.keys(header).length === 0;
    const own = isRecord(config.uniknode) ? config.uniknode : {};
    return {
      state: {
        height,
        forgingAllowed,
        currentSlot,
        header: isEmpty ? undefined : readHeader(header, network),
      },
      config: readConfig(config),
      isUniknode: own.protocol === UNIKNODE_PROTOCOL,
      processId: typeof own.processId === "string" ? own.processId : undefined,
    };
  },
  "p2p.peer.getCommonBlocks": (data) => {
    if (!commonForm.is(data)) throw formError("p2p.peer.getCommonBlocks", commonForm.violation(data));
    return data.common && { height: data.common.height, id: data.common.id };
  },
  "p2p.peer.getBlocks": (data, network) => runAtOnce(readBlocksGradually(data, network)),
  "p2p.peer.postBlock": (data) => {
    if (!isRecord(data)) throw formError("p2p.peer.postBlock", "it must be object");
  },
  "p2p.peer.postTransactions": (data) => {
    if (!Array.isArray(data)) throw formError("p2p.peer.postTransactions", "it must be array");
  },
  "uniknode.peer.getBlocks": (data) => {
    const blocks =
      isRecord(data) && data.blocks instanceof Uint8Array ? unpackBlocks(data.blocks) : undefined;
    if (!blocks) throw formError("uniknode.peer.getBlocks", "/blocks must be serialized blocks");
    return blocks;
  },
  "uniknode.peer.getGenesis": (data) => {
    if (!isRecord(data) || !isRecord(data.genesisBlock)) {
      throw formError("uniknode.peer.getGenesis", "/genesisBlock must be object");
    }
    return data.genesisBlock;
  },
};

function readConfig({
  version,
  network,
  plugins,
}: Static<typeof status>["config"]): ReceivedStatus["config"] {
  const { name, nethash, explorer, token } = network;
  const known = Object.entries(plugins)
    .filter(([plugin]) => new RegExp(PLUGIN_NAME).test(plugin))
    .map(([plugin, { enabled, port }]): [string, Plugin] => [plugin, { enabled, port }]);
  return {
    version,
    network: {
      ...(network.version !== undefined && { version: network.version }),
      name,
      nethash,
      explorer,
      token: { name: token.name, symbol: token.symbol },
    },
    plugins: Object.fromEntries(known),
  };
}

const formError = (event: PeerEvent, violation: string): WireError =>
  new WireError("REPLY_FORM", `the result of ${event} is invalid: ${violation}`);
