/** Table of the node's options with their origins. */
import type { NodeOption } from "@uniknode/client";
import { Badge } from "../../components/badge.tsx";
import { Section } from "../../components/page.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const COLUMNS: readonly Column<NodeOption>[] = [
  { title: "Option", cell: ({ option }) => <code>{option}</code> },
  {
    title: "Value",
    cell: ({ value }) =>
      value === undefined ? "not set" : Array.isArray(value) ? value.join(", ") : `${value}`,
  },
  {
    title: "Set by",
    cell: ({ origin, source }) =>
      origin === "default" ? "default" : <Badge tone="accent">{source ?? origin}</Badge>,
  },
];

export function Options() {
  const { operations } = useNode();
  const response = useResponse("node options", operations.operations.options, { lasts: "session" });
  return (
    <Section title="Options">
      <ResponseView response={response} what="The options">
        {({ data }) => (
          <Table
            caption="Options, explicitly set ones first"
            columns={COLUMNS}
            rows={[...data].sort((a, b) => Number(a.origin === "default") - Number(b.origin === "default"))}
            keyOf={({ option }) => option}
            empty={<Empty title="The node has no options" />}
          />
        )}
      </ResponseView>
    </Section>
  );
}
