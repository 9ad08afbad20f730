/** Headers that peers send, as values whose id is known to be theirs. */
import { type BlockHeader, decodeHeader, encodeHeader, type Network } from "@uniknode/protocol";
import { WireError } from "../wire/error.ts";
import type { ReceivedHeader } from "../wire/replies/received.ts";

/**
 * The header whose bytes the members make.
 *
 * @throws {WireError} REPLY_FORM if there are no such bytes, or they have another id than the one told
 */
export function headerFromPeer(received: ReceivedHeader, network: Network): BlockHeader {
  const header = decoded(received, network);
  // The genesis block has the id that was written for it.
  if (header.height === 1) return { ...header, id: received.id };
  if (header.id !== received.id) throw new WireError("REPLY_FORM", "a header has another id than it tells");
  return header;
}

function decoded(received: ReceivedHeader, network: Network): BlockHeader {
  try {
    return decodeHeader(encodeHeader(fieldsOf(received), network), network).header;
  } catch (error) {
    throw new WireError("REPLY_FORM", `a header makes no bytes: ${(error as Error).message}`);
  }
}

/** Members that may be missing are those that a header of today has to have all the same. */
function fieldsOf(received: ReceivedHeader): BlockHeader {
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
