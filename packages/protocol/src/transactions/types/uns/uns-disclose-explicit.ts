/** 2001/0 disclosure of explicit values (transactions.md 6.7). */

import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hexText, none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { untypedHex } from "../untyped.ts";
import {
  readDiscloseCertificationPayload,
  readDiscloser,
  readExplicitValues,
  writeDiscloseCertificationPayload,
  writeDiscloser,
  writeExplicitValues,
} from "./proofs/disclosure.ts";
import { readSignature } from "./proofs/signature.ts";

export const unsDiscloseExplicit: TransactionType = {
  typeGroup: TYPE_GROUPS.uns,
  type: 0,
  key: "UnsDiscloseExplicit",
  schema: {
    // Without its group, a batch refuses a disclosure, unlike most types of this group.
    required: ["asset", "typeGroup"],
    properties: {
      typeGroup: { const: TYPE_GROUPS.uns },
      amount: none,
      asset: record({
        // The payload of the demand is not checked.
        "disclose-demand": record({ payload: {}, signature: hexText }),
        "disclose-demand-certification": record({
          payload: { type: "object", required: ["iss", "sub", "iat"] },
          signature: hexText,
        }),
      }),
    },
  },
  write({ asset }, writer) {
    const demand = assetMember(asset, "disclose-demand");
    writeExplicitValues(demand.payload.explicitValue, writer);
    writeDiscloser(demand.payload, writer);
    writer.bytes(untypedHex(demand.signature, "signature"));
    const name = "disclose-demand-certification";
    const certification = assetMember(asset, name);
    writeDiscloseCertificationPayload(certification.payload, writer);
    writer.bytes(untypedHex(certification.signature, "signature"));
  },
  read(reader) {
    const explicitValue = readExplicitValues(reader);
    const demand = { payload: { explicitValue, ...readDiscloser(reader) }, signature: readSignature(reader) };
    const payload = readDiscloseCertificationPayload(reader);
    const certification = { payload, signature: readSignature(reader) };
    return { asset: { "disclose-demand": demand, "disclose-demand-certification": certification } };
  },
  staticFee: () => 10_000_000n,
};
