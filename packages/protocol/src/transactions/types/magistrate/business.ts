/** 2/0, 2/1 and 2/2: registration, resignation and change of a business (transactions.md 6.3 and 6.4). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import { assetMember } from "../../asset.ts";
import type { BusinessAsset } from "../../transaction.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { businessMembers, magistrateSchema } from "./members.ts";
import { readText, writeOptionalText, writeText } from "./texts.ts";

/** `writeName` is how name and website are written: they are required in a registration only. */
function writeBusiness(
  { name, website, vat, repository }: Partial<BusinessAsset>,
  writer: ByteWriter,
  writeName: (text: unknown, writer: ByteWriter) => void = writeOptionalText,
): void {
  writeName(name, writer);
  writeName(website, writer);
  writeOptionalText(vat, writer);
  writeOptionalText(repository, writer);
}

/** An empty text is an absent one. */
function readBusiness(reader: ByteReader): Partial<BusinessAsset> {
  const name = readText(reader);
  const website = readText(reader);
  const vat = readText(reader);
  const repository = readText(reader);
  return {
    ...(name && { name }),
    ...(website && { website }),
    ...(vat && { vat }),
    ...(repository && { repository }),
  };
}

const businessRegistration: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 0,
  key: "businessRegistration",
  schema: magistrateSchema(record({ businessRegistration: record(businessMembers, ["name", "website"]) })),
  write: ({ asset }, writer) => writeBusiness(assetMember(asset, "businessRegistration"), writer, writeText),
  read(reader) {
    const { name = "", website = "", ...optional } = readBusiness(reader);
    return { asset: { businessRegistration: { name, website, ...optional } } };
  },
  staticFee: () => 5_000_000_000n,
};

/** No payload. */
const businessResignation: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 1,
  key: "businessResignation",
  schema: magistrateSchema(),
  write() {},
  read: () => ({}),
  staticFee: () => 5_000_000_000n,
};

const businessUpdate: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 2,
  key: "businessUpdate",
  schema: magistrateSchema(
    record({
      businessUpdate: {
        ...record(businessMembers, []),
        anyOf: Object.keys(businessMembers).map((member) => ({ required: [member] })),
      },
    }),
  ),
  write: ({ asset }, writer) => writeBusiness(assetMember(asset, "businessUpdate"), writer),
  read: (reader) => ({ asset: { businessUpdate: readBusiness(reader) } }),
  staticFee: () => 5_000_000_000n,
};

/** Types 0 to 2 of group 2. */
export const businessTypes: readonly TransactionType[] = [
  businessRegistration,
  businessResignation,
  businessUpdate,
];
