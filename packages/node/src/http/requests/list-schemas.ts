/**
 * Schemas of the parameters of lists and of the bodies of searches (http-api.md 6), by the definitions of `read/lists.ts`. Numbers
 * in a body may come as text, as in a query.
 */
import {
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  Type,
} from "../../platform/json/schema.ts";
import type { FilterKind, ListDefinition, QueryName, SearchName } from "../../read/list-definition.ts";
import { pageQuery } from "./pagination.ts";
import {
  address,
  addressList,
  blockId,
  bool,
  type FormatName,
  formats,
  hex,
  hex64,
  int,
  ip,
  orderBy,
  positive,
  publicKey,
  query,
  uint,
  username,
  vendorField,
} from "./parameters.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/** Schema of a value or its text. */
const orText = <V extends TSchema>(value: V, format: FormatName) =>
  Type.Union([value, Type.String({ format })], { description: formats[format].description });

const uintValue = orText(Type.Integer({ minimum: 0, maximum: MAX }), "uint");
const positiveValue = orText(Type.Integer({ minimum: 1, maximum: MAX }), "uint+");
const intValue = orText(Type.Integer({ minimum: -MAX, maximum: MAX }), "int");
const percentageValue = orText(Type.Number({ minimum: 0, maximum: 100 }), "percentage");
const boolValue = orText(Type.Boolean(), "bool");

/** Schema of `{ "from": n, "to": n }`: both ends are included, and each is optional. */
const interval = <V extends TSchema>(value: V) =>
  Type.Object({ from: Type.Optional(value), to: Type.Optional(value) }, { additionalProperties: false });

/** Schema of a list without duplicates. */
export const distinct = <V extends TSchema>(value: V, maxItems: number) =>
  Type.Array(value, { minItems: 1, maxItems, uniqueItems: true });

/** Schema of a body that allows only these members. */
export const body = <P extends TProperties>(members: P): TObject<{ [K in keyof P]: P[K] }> =>
  Type.Object(members, { additionalProperties: false });

const MAX_ADDRESSES = 50;
const MAX_IDS = 100;

const delegateState = Type.Enum(["resigned", "never-forged"], {
  description: "Only resigned delegates, or only delegates that never forged a block.",
});
const entityName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,40}$",
  description: "1 to 40 of A-Z, a-z, 0-9, _ and -",
});
const namePart = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "Part of the displayed name (unikname) or of the username, case-insensitive.",
});
const versionRange = Type.String({
  description: "Version range such as ^5.7 or >=5.6 <6; 404 if it is invalid.",
});

/** Schemas of each kind of filter: as the parameter of a list, and as the member of a search. */
const KINDS = {
  address: { query: address, search: address },
  addressList: { query: addressList, search: address },
  addresses: { search: distinct(address, MAX_ADDRESSES) },
  blockId: { query: blockId, search: blockId },
  delegateState: { query: delegateState },
  entityName: { query: entityName, search: entityName },
  expirationType: {
    query: Type.String({ pattern: "^0*[12]$", description: "1 or 2" }),
    search: Type.Enum([1, 2, "1", "2"]),
  },
  flag: { query: bool, search: boolValue },
  hex: { query: hex, search: hex },
  hex64: { query: hex64, search: hex64 },
  ids: { search: Type.Union([hex64, Type.Array(hex64, { minItems: 1, maxItems: MAX_IDS })]) },
  int: { query: int, search: intValue },
  ip: { query: ip },
  members: { search: Type.Object({}) },
  namePart: { query: namePart, search: namePart },
  percentage: { search: percentageValue },
  positive: { query: positive, search: positiveValue },
  publicKey: { query: publicKey, search: publicKey },
  // The limit is in characters; searches of transactions limit bytes.
  text: { search: Type.String({ minLength: 1, maxLength: 255 }) },
  uint: { query: uint, search: uintValue },
  username: { query: username, search: username },
  // The maximum depends on the head.
  usernames: { search: Type.Array(username, { minItems: 1, uniqueItems: true }) },
  vendorField: { query: vendorField, search: Type.String({ ...vendorField, minLength: 1 }) },
  versionRange: { query: versionRange },
} satisfies Record<FilterKind, { readonly query?: TSchema; readonly search?: TSchema }>;

type Kinds = typeof KINDS;
type KindOf<L extends ListDefinition, Name extends keyof L["filters"]> = L["filters"][Name]["kind"];
type QuerySchema<K extends FilterKind> = Kinds[K] extends { query: infer S extends TSchema } ? S : never;
type SearchSchema<K extends FilterKind> = Kinds[K] extends { search: infer S extends TSchema } ? S : never;

type ListParameters<L extends ListDefinition> = { orderBy: TOptional<TString> } & {
  [Name in QueryName<L>]: TOptional<QuerySchema<KindOf<L, Name>>>;
};
type SearchMembers<L extends ListDefinition> = {
  [Name in SearchName<L, "value">]: TOptional<SearchSchema<KindOf<L, Name>>>;
} & {
  [Name in SearchName<L, "interval">]: TOptional<ReturnType<typeof interval<SearchSchema<KindOf<L, Name>>>>>;
};

/** Returns the schema of an order of the list. */
export const orderOfList = ({ orders }: ListDefinition) => Type.Optional(orderBy(...orders));

/** Returns the schemas of the parameters of a list, except its paging parameters. */
export function listParameters<L extends ListDefinition>(list: L): ListParameters<L> {
  const filters = Object.entries(list.filters)
    .filter(([, { query }]) => query)
    .map(([name, { kind }]) => [name, Type.Optional(schemaOf(kind, "query"))]);
  return { orderBy: orderOfList(list), ...Object.fromEntries(filters) };
}

/** Returns the schemas of the members of a search: first single values, then intervals. */
export function searchMembers<L extends ListDefinition>({ filters }: L): SearchMembers<L> {
  const membersOf = (form: "value" | "interval") =>
    Object.entries(filters)
      .filter(([, { search }]) => search === form)
      .map(([name, { kind }]) => {
        const schema = schemaOf(kind, "search");
        return [name, Type.Optional(form === "interval" ? interval(schema) : schema)];
      });
  return Object.fromEntries([...membersOf("value"), ...membersOf("interval")]);
}

/** Returns the schemas of a search: page and order are parameters, the filters are members of the body. */
export const searchSchemas = <L extends ListDefinition>(list: L) => ({
  querystring: query({ ...pageQuery, orderBy: orderOfList(list) }),
  body: body(searchMembers(list)),
});

function schemaOf(kind: FilterKind, part: "query" | "search"): TSchema {
  const schemas: { readonly query?: TSchema; readonly search?: TSchema } = KINDS[kind];
  const schema = schemas[part];
  if (!schema) throw new Error(`filters of the kind ${kind} have no schema of a ${part}`);
  return schema;
}
