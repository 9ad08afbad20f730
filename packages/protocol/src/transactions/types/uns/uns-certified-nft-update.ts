/** 2001/4 certified change of the properties of a token (transactions.md 6.6). */
import { TYPE_GROUPS } from "../../type-groups.ts";
import type { TransactionType } from "../type.ts";
import { certifiedSchema, readPaidCertified, writeCertified } from "./certified.ts";

export const unsCertifiedNftUpdate: TransactionType = {
  typeGroup: TYPE_GROUPS.uns,
  type: 4,
  key: "UnsCertifiedNftUpdate",
  schema: certifiedSchema(["tokenId", "properties"]),
  write: writeCertified,
  read: readPaidCertified,
  staticFee: () => 10_000_000n,
};
