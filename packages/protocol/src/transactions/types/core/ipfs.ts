/** 1/5 registration of an IPFS hash (transactions.md 6.3). */

import { base58 } from "#primitives";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { base58Text, none, record, u63 } from "../members.ts";
import type { TransactionType } from "../type.ts";

/** Function byte and length byte of a multihash. */
const HEADER_BYTES = 2;

export const ipfs: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 5,
  key: "ipfs",
  schema: {
    properties: {
      amount: none,
      fee: u63(1),
      asset: record({ ipfs: { ...base58Text, minLength: 2, maxLength: 90 } }),
    },
  },
  // Unchanged, even if its length byte prevents reading it again.
  write: ({ asset }, writer) => writer.bytes(base58.decode(assetMember(asset, "ipfs"))),
  read(reader) {
    const length = reader.peek(1) ?? 0;
    return { asset: { ipfs: base58.encode(reader.take(HEADER_BYTES + length)) } };
  },
  staticFee: () => 500_000_000n,
};
