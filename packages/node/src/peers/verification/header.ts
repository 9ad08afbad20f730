/** Headers from peers, decoded and with a verified id. */
import { type BlockHeader, decodeHeader, encodeHeader, type Network } from "@uniknode/protocol";
import { WireError } from "../wire/error.ts";
import type { ReceivedHeader } from "../wire/replies/received.ts";

/**
 * The header of the received members, encoded and decoded again.
 *
 * @throws {WireError} REPLY_FORM if it cannot be encoded, or has another id than the received one
 */
export function headerFromPeer(received: ReceivedHeader, network: Network): BlockHeader {
  const header = decode(received, network);
  // The id of the genesis block is not the hash of its bytes.
  if (header.height === 1) return { ...header, id: received.id };
  if (header.id !== received.id) throw new WireError("REPLY_FORM", "a header has another id than it claims");
  return header;
}

function decode(received: ReceivedHeader, network: Network): BlockHeader {
  try {
    return decodeHeader(encodeHeader(toHeader(received), network), network).header;
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
