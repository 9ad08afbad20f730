/** 2001/3 certified mint of a token (transactions.md 6.6). */
import { TYPE_GROUPS } from "../../type-groups.ts";
import type { TransactionType } from "../type.ts";
import { certifiedSchema, readPaidCertified, writeCertified } from "./certified.ts";

export const unsCertifiedNftMint: TransactionType = {
  typeGroup: TYPE_GROUPS.uns,
  type: 3,
  key: "UnsCertifiedNftMint",
  schema: { ...certifiedSchema(["tokenId"]), required: ["asset"] },
  write: writeCertified,
  read: readPaidCertified,
  staticFee: () => 100_000_000n,
};
