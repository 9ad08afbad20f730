/** Types of group 2001 (transactions.md 6.3, 6.6 and 6.7). */

import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { delegateRegistration } from "../core/delegate-registration.ts";
import { delegateResignation } from "../core/delegate-resignation.ts";
import { vote } from "../core/vote.ts";
import { hashText, hexText, none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { untypedHex } from "../untyped.ts";
import { unsCertifiedNftMint, unsCertifiedNftTransfer, unsCertifiedNftUpdate } from "./certified.ts";
import {
  readDiscloseCertificationPayload,
  readDiscloser,
  readExplicitValues,
  writeDiscloseCertificationPayload,
  writeDiscloser,
  writeExplicitValues,
} from "./proofs/disclosure.ts";
import { readSignature } from "./proofs/signature.ts";

/** 2001/0 disclosure of explicit values (transactions.md 6.7). */
const unsDiscloseExplicit: TransactionType = {
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

/** 2001/1 registration of a delegate by the id of its token (transactions.md 6.3). */
const unsDelegateRegister: TransactionType = {
  ...delegateRegistration,
  typeGroup: TYPE_GROUPS.uns,
  type: 1,
  key: "UnsDelegateRegister",
  schema: {
    required: ["asset", "typeGroup"],
    properties: {
      ...delegateRegistration.schema.properties,
      typeGroup: { const: TYPE_GROUPS.uns },
      // Written as text, so letter case is preserved.
      asset: record({ delegate: record({ username: hashText }) }),
    },
  },
  staticFee: () => 10_000_000n,
};

/** 2001/2 resignation of a delegate (transactions.md 6.3): no payload. */
const unsDelegateResign: TransactionType = {
  ...delegateResignation,
  typeGroup: TYPE_GROUPS.uns,
  type: 2,
  key: "UnsDelegateResign",
  schema: { properties: { ...delegateResignation.schema.properties, typeGroup: { const: TYPE_GROUPS.uns } } },
  staticFee: () => 10_000_000n,
};

/** 2001/5 vote (transactions.md 6.3). */
const unsVote: TransactionType = {
  ...vote,
  typeGroup: TYPE_GROUPS.uns,
  type: 5,
  key: "UnsVote",
  schema: {
    ...vote.schema,
    properties: { ...vote.schema.properties, typeGroup: { const: TYPE_GROUPS.uns } },
  },
};

/** Types 0 to 6 of group 2001. */
export const unsTypes: readonly TransactionType[] = [
  unsDiscloseExplicit,
  unsDelegateRegister,
  unsDelegateResign,
  unsCertifiedNftMint,
  unsCertifiedNftUpdate,
  unsVote,
  unsCertifiedNftTransfer,
];
