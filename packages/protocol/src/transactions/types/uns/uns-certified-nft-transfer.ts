/** 2001/6 certified transfer of a token (transactions.md 6.6). Its amount is zero, whatever the JSON has. */
import { TYPE_GROUPS } from "../../type-groups.ts";
import type { TransactionType } from "../type.ts";
import { certifiedSchema, readCertified, writeCertified } from "./certified.ts";

export const unsCertifiedNftTransfer: TransactionType = {
  typeGroup: TYPE_GROUPS.uns,
  type: 6,
  key: "UnsCertifiedNftTransfer",
  schema: certifiedSchema(["tokenId"]),
  write: writeCertified,
  read: readCertified,
  staticFee: () => 100_000_000n,
};
