/** 1/0 transfer (transactions.md 6.3). */

import { present } from "../../../present.ts";
import { readAddress, writeAddress } from "../../addresses.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, u63, vendorFieldText } from "../members.ts";
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
