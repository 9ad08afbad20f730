/** History of the properties of a unik, with the transactions that changed them. */
import type { Transaction } from "@uniknode/client";
import { TransactionId } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { titleOf } from "../../components/transactions/kinds.ts";
import { useNode } from "../../data/node.ts";
import "./unik.css";

const COLUMNS: readonly Column<Transaction>[] = [
  { title: "Transaction", narrow: "2c", cell: ({ id }) => <TransactionId id={id} /> },
  {
    title: "Time",
    narrow: "1c",
    cell: ({ timestamp }) => timestamp && <Time timeMs={timestamp.unix * 1_000} />,
  },
  { title: "Type", narrow: "1a", cell: (transaction) => titleOf(transaction) },
  { title: "Properties", narrow: "2a", cell: ({ asset }) => <Changes changes={changesOf(asset)} /> },
];

export function PropertyHistory({ id }: { id: string }) {
  const { api } = useNode();
  return (
    <Section title="History">
      <PagedList
        name={`unik ${id} history`}
        list={() => api.transactions.search({ asset: { nft: { unik: { tokenId: id } } } })}
        what="transactions"
        title="The history"
      >
        {(transactions) => (
          <Table
            caption="Transactions of the unik"
            columns={COLUMNS}
            rows={transactions}
            keyOf={({ id }) => id}
            empty={<Empty title="No transactions" />}
          />
        )}
      </PagedList>
    </Section>
  );
}

type Change = readonly [key: string, value: string | undefined];

function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <span class="quiet">none</span>;
  return (
    <ul class="changes">
      {changes.map(([key, value]) => (
        <li key={key}>
          <code>{key}</code>{" "}
          {value === undefined ? <span class="bad">removed</span> : <span class="text">{value}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Reads the properties in the asset of a transaction; removed ones are `null`. */
export function changesOf(asset: unknown): readonly Change[] {
  const { nft } = Object(asset) as { nft?: { unik?: { properties?: unknown } } };
  const properties = Object(Object(Object(nft).unik).properties) as Record<string, unknown>;
  return Object.entries(properties).map(([key, value]) => [
    key,
    value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value),
  ]);
}
