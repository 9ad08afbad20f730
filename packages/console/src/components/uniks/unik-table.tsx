/** Table of uniks. */
import type { Unik } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { Address, UnikId } from "../identifier.tsx";
import { type Column, Table } from "../table.tsx";
import { unikTypeText } from "./unik-types.ts";

export type UnikTableProps = {
  readonly caption: string;
  readonly uniks: readonly Unik[];
  readonly empty: ComponentChildren;
};

const COLUMNS: readonly Column<Unik>[] = [
  { title: "Unik", cell: ({ id, defaultExplicitValue }) => <UnikId id={id} name={defaultExplicitValue} /> },
  { title: "Type", cell: ({ type }) => unikTypeText(type) },
  {
    title: "Other names",
    cell: ({ explicitValues = [] }) => <span class="text">{explicitValues.slice(1).join(", ")}</span>,
    isMinor: true,
  },
  { title: "Owner", cell: ({ ownerId }) => <Address address={ownerId} /> },
];

export const UnikTable = ({ caption, uniks, empty }: UnikTableProps) => (
  <Table caption={caption} columns={COLUMNS} rows={uniks} keyOf={({ id }) => id} empty={empty} />
);
