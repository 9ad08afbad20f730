/** Current round, and list of delegates. */
import type { Delegate, DelegateOrder, DelegateQuery } from "@uniknode/client";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { DelegateName, nameOf } from "../../components/delegate-name.tsx";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { Filters } from "../../components/filters.tsx";
import { countText, percentText } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Page, Section } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { RoundMonitor } from "../../components/round/round-monitor.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";

const STATES = [
  { value: "", label: "All delegates" },
  { value: "never-forged", label: "Never forged" },
  { value: "resigned", label: "Resigned" },
] as const;
const ORDERS: readonly { readonly value: DelegateOrder | ""; readonly label: string }[] = [
  { value: "", label: "By rank" },
  { value: "votes:desc", label: "Most votes first" },
  { value: "producedBlocks:desc", label: "Most blocks first" },
  { value: "forgedTotal:desc", label: "Highest earnings first" },
  { value: "username:asc", label: "By username" },
];

export default function Delegates() {
  const { api } = useNode();
  const { state, orderBy, name } = useListState().query;
  const search: DelegateQuery = {
    ...((state === "never-forged" || state === "resigned") && { type: state }),
    ...orderFrom(ORDERS, orderBy),
    ...(name && { name }),
  };
  const list = () => api.delegates.list(search);
  return (
    <Page title="Delegates">
      <RoundMonitor />
      <Section title="All delegates" aside={<ExportButtons name="delegates" rows={() => rowsOf(list())} />}>
        <Filters
          fields={[
            { name: "state", label: "Show", options: STATES },
            { name: "orderBy", label: "Order", options: ORDERS },
            { name: "name", label: "Name", placeholder: "Part of the name" },
          ]}
        >
          <PagedList
            name={`delegates ${JSON.stringify(search)}`}
            list={list}
            what="delegates"
            limit={50}
            lines={10}
          >
            {(delegates) => <DelegateTable delegates={delegates} />}
          </PagedList>
        </Filters>
      </Section>
    </Page>
  );
}

function DelegateTable({ delegates }: { delegates: readonly Delegate[] }) {
  const symbol = useSymbol();
  const active = useNode().configuration.value?.constants.activeDelegates ?? 0;
  const columns: readonly Column<Delegate>[] = [
    { title: "Rank", narrow: "1a", cell: (delegate) => <Rank delegate={delegate} active={active} /> },
    {
      title: "Delegate",
      narrow: "1b",
      cell: (delegate) => <DelegateName id={delegate.username} name={nameOf(delegate)} />,
    },
    { title: "Type", cell: ({ type }) => type, narrow: "2b" },
    { title: `Votes ${symbol}`, cell: ({ votes }) => <Amount value={votes} />, isNumber: true, narrow: "1c" },
    {
      title: "Share",
      cell: ({ production }) => percentText(production.approval),
      isNumber: true,
      isMinor: true,
    },
    { title: "Blocks", cell: ({ blocks }) => countText(blocks.produced), isNumber: true },
    { title: "Last block", cell: ({ blocks }) => <LastBlock last={blocks.last} />, narrow: "2c" },
    { title: "Earned", cell: ({ forged }) => <Amount value={forged.total} />, isNumber: true, isMinor: true },
  ];
  return (
    <Table
      caption="Delegates"
      columns={columns}
      rows={delegates}
      keyOf={({ publicKey }) => publicKey}
      empty={<Empty title="No delegate matches">Clear the filters to see all delegates.</Empty>}
    />
  );
}

function Rank({ delegate: { rank, isResigned }, active }: { delegate: Delegate; active: number }) {
  if (isResigned) return <Badge tone="bad">resigned</Badge>;
  if (rank === undefined) return <Badge>new</Badge>;
  return <Badge tone={rank <= active ? "good" : "plain"}>{countText(rank)}</Badge>;
}

function LastBlock({ last }: { last: Delegate["blocks"]["last"] }) {
  if (!last) return <span class="quiet">never</span>;
  return (
    <a href={hrefOf.block(last.id)}>
      <Time timeMs={last.timestamp.unix * 1_000} />
    </a>
  );
}

async function* rowsOf(delegates: AsyncIterable<Delegate>) {
  for await (const {
    rank = "",
    unikname,
    username,
    type,
    address,
    publicKey,
    votes,
    blocks,
    forged,
  } of delegates) {
    yield {
      rank,
      unikname,
      username,
      type,
      address,
      publicKey,
      votes,
      blocks: blocks.produced,
      earned: forged.total,
    };
  }
}
