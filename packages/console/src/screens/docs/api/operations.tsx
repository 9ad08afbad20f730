/** List of all operations by subject. */
import { Badge } from "../../../components/badge.tsx";
import { Section } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { useTyped } from "../use-query.ts";
import { filterGroups, type Group, type Operation } from "./openapi.ts";
import { Words } from "./words.tsx";

const COLUMNS: readonly Column<Operation>[] = [
  {
    title: "Operation",
    narrow: "1a",
    cell: ({ id, method, path, isReading }) => (
      <a href={`/console/docs/api/${encodeURIComponent(id)}`}>
        <Badge tone={isReading ? "accent" : "warning"}>{method}</Badge> <code>{path}</code>
      </a>
    ),
  },
  {
    title: "Description",
    narrow: "2a",
    cell: ({ summary, needsToken }) => (
      <span>
        <Words text={summary} /> {needsToken && <Badge>token</Badge>}
      </span>
    ),
  },
];

export function Operations({ groups }: { groups: readonly Group[] }) {
  const { query, text, type } = useTyped("filter");
  const shown = filterGroups(groups, query);
  return (
    <>
      <p>
        The node describes its API itself, as <a href="/api/openapi.json">OpenAPI</a>; the{" "}
        <a href="/console/docs/guides/api">guide</a> describes what all responses have in common.
      </p>
      <div class="field">
        <label for="docs-filter">Filter by path, method or words</label>
        <input
          id="docs-filter"
          type="search"
          value={text}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
      </div>
      {shown.length === 0 && <Empty title={`No operation has “${query}”`}>Try fewer or shorter words.</Empty>}
      {shown.map(({ name, description, operations }) => (
        <Section key={name} title={name}>
          <p class="quiet">
            <Words text={description} />
          </p>
          <Table
            caption={`Operations: ${name}`}
            columns={COLUMNS}
            rows={operations}
            keyOf={({ id }) => id}
            empty={null}
          />
        </Section>
      ))}
    </>
  );
}
