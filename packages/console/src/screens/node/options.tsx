/** Searchable table of the node's options with their origins. */
import type { NodeOption } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Badge } from "../../components/badge.tsx";
import { countText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const COLUMNS: readonly Column<NodeOption>[] = [
  { title: "Option", cell: ({ option }) => <code>{option}</code> },
  { title: "Value", cell: (option) => <span class="text">{textOf(option)}</span> },
  {
    title: "Set by",
    cell: ({ origin, source }) =>
      origin === "default" ? "default" : <Badge tone="accent">{source ?? origin}</Badge>,
  },
];

const textOf = ({ value }: NodeOption): string =>
  value === undefined ? "not set" : Array.isArray(value) ? value.join(", ") || "none" : `${value}`;

/** Without a search, lists the options that are set explicitly: most of the others are never changed. */
export function Options() {
  const { operations } = useNode();
  const [search, setSearch] = useState("");
  const [isWhole, setWhole] = useState(false);
  const response = useResponse("node options", operations.operations.options, { lasts: "session" });
  const wanted = search.trim().toLowerCase();
  const isShown = (option: NodeOption) =>
    wanted === ""
      ? isWhole || option.origin !== "default"
      : `${option.option} ${textOf(option)} ${option.source ?? ""}`.toLowerCase().includes(wanted);
  return (
    <Section
      title="Options"
      aside={
        <input
          type="search"
          aria-label="Search the options"
          placeholder="Name or value"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      }
    >
      <ResponseView response={response} what="The options">
        {({ data }) => {
          const rows = data.filter(isShown);
          return (
            <>
              <p class="quiet" role="status">
                {countText(rows.length)} of {countText(data.length)} options.{" "}
                {wanted === "" && (
                  <button type="button" onClick={() => setWhole(!isWhole)}>
                    {isWhole ? "Hide the defaults" : "Show all"}
                  </button>
                )}
              </p>
              <Table
                caption="Options"
                columns={COLUMNS}
                rows={rows.sort((a, b) => Number(a.origin === "default") - Number(b.origin === "default"))}
                keyOf={({ option }) => option}
                empty={<Empty title={wanted === "" ? "Every option has its default" : "No option matches"} />}
              />
            </>
          );
        }}
      </ResponseView>
    </Section>
  );
}
