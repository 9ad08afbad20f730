/** Form of the definition of a list, and the types that follow from a definition. `lists.ts` defines the lists. */
import type { Direction, Integer, Interval } from "./page.ts";

/** Value of a filter in the read model, by the kind of the filter. `http/requests/list-schemas.ts` has the schemas of each kind. */
type FilterValues = {
  readonly address: string;
  readonly addresses: readonly string[];
  /** Addresses, separated by commas. */
  readonly addressList: string;
  readonly blockId: string;
  readonly delegateState: string;
  readonly entityName: string;
  readonly expirationType: Integer;
  readonly flag: boolean | string;
  readonly hex: string;
  readonly hex64: string;
  readonly ids: readonly string[];
  readonly int: Integer | Interval;
  readonly ip: string;
  readonly members: object;
  readonly namePart: string;
  readonly percentage: Interval;
  readonly positive: Integer | Interval;
  readonly publicKey: string;
  readonly text: string;
  readonly uint: Integer | Interval;
  readonly username: string;
  readonly usernames: readonly string[];
  readonly vendorField: string;
  readonly versionRange: string;
};

export type FilterKind = keyof FilterValues;

export type FilterDefinition = {
  readonly kind: FilterKind;
  /** The list has a parameter of this name. */
  readonly query?: true;
  /** The search has a member of this name: a value, or an interval. */
  readonly search?: "value" | "interval";
  /** Explains the filter beyond its name, in the reference and in the client. */
  readonly note?: string;
  /** Validated but without effect, as in the old network. */
  readonly isIgnored?: true;
};

type FilterDefinitions = Readonly<Record<string, FilterDefinition>>;

export type ListDefinition = {
  readonly path: string;
  /** Path of the search; absent without one. */
  readonly searchPath?: string;
  readonly filters: FilterDefinitions;
  /** Fields to order by; empty if the order is fixed. */
  readonly orders: readonly string[];
  readonly defaultOrder: { readonly field: string; readonly direction: Direction };
};

/** A row must match all members of a filter; absent members do not filter. */
export type FilterOf<L extends ListDefinition> = {
  readonly [Name in keyof L["filters"]]?: FilterValues[L["filters"][Name]["kind"]];
};

export type OrderOf<L extends ListDefinition> = {
  readonly field: L["orders"][number];
  readonly direction: Direction;
};

/** Names of the filters that are parameters of the list. */
export type QueryName<L extends ListDefinition> = {
  [Name in keyof L["filters"]]: L["filters"][Name] extends { readonly query: true } ? Name : never;
}[keyof L["filters"]];

/** Names of the filters that are members of the search, in one of the forms. */
export type SearchName<L extends ListDefinition, Form extends "value" | "interval" = "value" | "interval"> = {
  [Name in keyof L["filters"]]: L["filters"][Name] extends { readonly search: Form } ? Name : never;
}[keyof L["filters"]];

type Narrowed<L extends ListDefinition, Name> = Omit<L, "path" | "searchPath" | "filters"> & {
  readonly path: string;
  readonly filters: Omit<L["filters"], Name & string>;
};

/** Returns a list without some of the filters of another list, and without its search. */
export function narrowed<L extends ListDefinition, Name extends keyof L["filters"]>(
  { searchPath: _, ...list }: L,
  path: string,
  without: readonly Name[],
): Narrowed<L, Name> {
  const filters: FilterDefinitions = Object.fromEntries(
    Object.entries(list.filters).filter(([name]) => !without.some((excluded) => excluded === name)),
  );
  return { ...list, path, filters } as Narrowed<L, Name>;
}
