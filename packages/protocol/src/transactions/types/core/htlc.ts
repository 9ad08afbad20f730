/** 1/8 to 1/10: hash time lock, its claim by the secret, and its refund after it has expired (transactions.md 6.3). */

import { present } from "../../../present.ts";
import { readAddress, writeAddress } from "../../addresses.ts";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, hashText, none, record, u63, vendorFieldText } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const htlcLock: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 8,
  key: "htlcLock",
  hasVendorField: true,
  schema: {
    required: ["recipientId"],
    properties: {
      amount: u63(1),
      fee: u63(1),
      vendorField: vendorFieldText,
      recipientId: addressText,
      asset: record({
        lock: record({
          secretHash: hashText,
          expiration: record({ type: { enum: [1, 2] }, value: { type: "integer", minimum: 0 } }),
        }),
      }),
    },
  },
  write({ amount, recipientId, asset }, writer) {
    const { secretHash, expiration } = assetMember(asset, "lock");
    writer.u64(amount);
    writer.hex(secretHash, 32);
    writer.u8(expiration.type);
    writer.u32(expiration.value);
    writeAddress(writer, present(recipientId, "recipientId"));
  },
  read(reader) {
    const amount = reader.u64();
    const secretHash = reader.hex(32);
    const expiration = { type: reader.u8(), value: reader.u32() };
    return { amount, recipientId: readAddress(reader), asset: { lock: { secretHash, expiration } } };
  },
  staticFee: () => 10_000_000n,
};

export const htlcClaim: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 9,
  key: "htlcClaim",
  schema: {
    properties: {
      amount: none,
      fee: none,
      asset: record({ claim: record({ lockTransactionId: hashText, unlockSecret: hashText }) }),
    },
  },
  write({ asset }, writer) {
    const { lockTransactionId, unlockSecret } = assetMember(asset, "claim");
    writer.hex(lockTransactionId, 32);
    writer.hex(unlockSecret, 32);
  },
  read: (reader) => ({
    asset: { claim: { lockTransactionId: reader.hex(32), unlockSecret: reader.hex(32) } },
  }),
  staticFee: () => 0n,
};

export const htlcRefund: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 10,
  key: "htlcRefund",
  schema: {
    properties: {
      amount: none,
      fee: none,
      asset: record({ refund: record({ lockTransactionId: hashText }) }),
    },
  },
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "refund").lockTransactionId, 32),
  read: (reader) => ({ asset: { refund: { lockTransactionId: reader.hex(32) } } }),
  staticFee: () => 0n,
};
