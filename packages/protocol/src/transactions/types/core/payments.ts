/** 1/0 transfer, and 1/6 payments to several recipients (transactions.md 6.3). */

import { present } from "../../../present.ts";
import { readAddress, writeAddress } from "../../addresses.ts";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, none, record, u63, vendorFieldText } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const transfer: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 0,
  key: "transfer",
  hasVendorField: true,
  checksRecipientNetwork: true,
  schema: {
    required: ["recipientId"],
    properties: {
      fee: u63(1),
      vendorField: vendorFieldText,
      recipientId: addressText,
      expiration: { type: "integer", minimum: 0 },
    },
  },
  write({ amount, expiration = 0, recipientId }, writer) {
    writer.u64(amount);
    writer.u32(expiration);
    writeAddress(writer, present(recipientId, "recipientId"));
  },
  read: (reader) => ({
    amount: reader.u64(),
    expiration: reader.u32(),
    recipientId: readAddress(reader),
  }),
  staticFee: () => 10_000_000n,
};

export const multiPayment: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 6,
  key: "multiPayment",
  hasVendorField: true,
  checksRecipientNetwork: true,
  schema: {
    properties: {
      amount: none,
      fee: u63(1),
      vendorField: vendorFieldText,
      asset: record({
        // The keyword of the type checks the upper limit (transactions.md 8.2).
        payments: { type: "array", minItems: 2, items: record({ amount: u63(1), recipientId: addressText }) },
      }),
    },
  },
  write({ asset }, writer) {
    const payments = assetMember(asset, "payments");
    writer.u16(payments.length);
    for (const { amount, recipientId } of payments) {
      writer.u64(amount);
      writeAddress(writer, recipientId);
    }
  },
  read(reader) {
    const payments = Array.from({ length: reader.u16() }, () => ({
      amount: reader.u64(),
      recipientId: readAddress(reader),
    }));
    return { asset: { payments } };
  },
  staticFee: () => 10_000_000n,
};
