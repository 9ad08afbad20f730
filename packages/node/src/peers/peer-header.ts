/** Headers from peers as JSON, decoded and with a verified id. */
import { type BlockHeader, decodeHeader, encodeHeader, type Network } from "@uniknode/protocol";
import type { ReceivedHeader } from "./wire/received.ts";
import { WireError } from "./wire/wire-error.ts";

/**
 * The header of the received members.
 *
 * @throws {WireError} REPLY_FORM if it cannot be encoded, or has another id than the received one
 */
export const headerFromPeer = (received: ReceivedHeader, network: Network): BlockHeader =>
  encodedHeaderFromPeer(received, network).header;

/** Also returns the bytes of the header, from which its id and its signature are computed. */
export function encodedHeaderFromPeer(
  received: ReceivedHeader,
  network: Network,
): { header: BlockHeader; headerBytes: Uint8Array } {
  const { header, headerBytes } = encode(received, network);
  // The id of the genesis block is not the hash of its bytes.
  if (header.height === 1) return { header: { ...header, id: received.id }, headerBytes };
  if (header.id !== received.id)
    throw new WireError("REPLY_FORM", "the id of a header does not match its content");
  return { header, headerBytes };
}

/** The header is decoded from its bytes: members of the JSON may have other forms than the encoded ones. */
function encode(received: ReceivedHeader, network: Network) {
  try {
    const headerBytes = encodeHeader(toHeader(received), network);
    return { header: decodeHeader(headerBytes, network).header, headerBytes };
  } catch (error) {
    throw new WireError("REPLY_FORM", `a header cannot be encoded: ${(error as Error).message}`);
  }
}

/** Missing members that are optional in replies get 0. */
function toHeader(received: ReceivedHeader): BlockHeader {
  const { totalAmount, totalFee, reward, numberOfTransactions = 0, version = 0 } = received;
  const amount = (value: unknown) => BigInt(value as string | number);
  return {
    ...(received as Partial<BlockHeader> as BlockHeader),
    version: version as number,
    numberOfTransactions: numberOfTransactions as number,
    totalAmount: amount(totalAmount),
    totalFee: amount(totalFee),
    reward: amount(reward),
  };
}
