/** Headers and blocks as a client accepts them. Only known members are read, however many a peer sends. */
import { headerViolation, type Network } from "@uniknode/protocol";
import { WireError } from "../error.ts";
import { MAX_BLOCKS } from "../limits.ts";
import { isRecord, type UntrustedRecord } from "../record.ts";

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
export function readHeader(header: UntrustedRecord, network: Network): ReceivedHeader {
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
export function* readBlocksGradually(
  data: unknown,
  network: Network,
  limit = MAX_BLOCKS,
): Generator<void, ReceivedBlock[]> {
  if (!Array.isArray(data) || data.length > MAX_BLOCKS) throw formError();
  const blocks: ReceivedBlock[] = [];
  for (const block of data.slice(0, limit)) {
    if (blocks.length > 0) yield;
    blocks.push(readBlock(block, network));
  }
  return blocks;
}

function readBlock(block: unknown, network: Network): ReceivedBlock {
  if (!isRecord(block)) throw formError();
  const { transactions } = block;
  if (transactions === undefined) return readHeader(block, network);
  if (!Array.isArray(transactions) || transactions.some((bytes) => typeof bytes !== "string")) {
    throw formError();
  }
  return { ...readHeader(block, network), transactions };
}

const formError = () =>
  new WireError("REPLY_FORM", "the result of p2p.peer.getBlocks is invalid: a list of blocks is expected");
