/** Table of transactions. */
import type { Transaction } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { Amount, useSymbol } from "../amount.tsx";
import { Badge } from "../badge.tsx";
import { Address, TransactionId } from "../identifier.tsx";
import { type Column, Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { subjectOf } from "./asset.ts";
import { titleOf } from "./kinds.ts";
import { PartView } from "./parts.tsx";
import { useRowKeys } from "./row-keys.ts";

export type TransactionTableProps = {
  readonly caption: string;
  readonly transactions: readonly Transaction[];
  /** Wallet of the transactions: the table shows what it sent and received. */
  readonly of?: string | undefined;
  readonly empty: ComponentChildren;
  /** Keeps the layout stable: rows stay in place and get new contents. */
  readonly isSteady?: boolean;
};

export function TransactionTable({ caption, transactions, of, empty, isSteady }: TransactionTableProps) {
  const symbol = useSymbol();
  const keys = useRowKeys(transactions.map(({ id }) => id));
  const columns: readonly Column<Transaction>[] = [
    { title: "Id", cell: ({ id }) => <TransactionId id={id} />, narrow: "2c" },
    {
      title: "Time",
      narrow: "2a",
      cell: ({ timestamp, blockId }) =>
        timestamp && blockId ? (
          <Time timeMs={timestamp.unix * 1_000} />
        ) : (
          <Badge tone="warning">pending</Badge>
        ),
    },
    { title: "Type", cell: (transaction) => <Type transaction={transaction} of={of} />, narrow: "1a" },
    { title: "Sender", cell: ({ sender }) => <Address address={sender} />, narrow: "2b" },
    { title: "To", cell: (transaction) => <Subject transaction={transaction} />, narrow: "1b" },
    {
      title: `Amount ${symbol}`,
      cell: (transaction) => (
        <>
          {of !== undefined && transaction.amount !== "0" && (transaction.sender === of ? "−" : "+")}
          <AmountOrNothing amount={transaction.amount} />
        </>
      ),
      isNumber: true,
      narrow: "1c",
    },
    { title: "Fee", cell: ({ fee }) => <AmountOrNothing amount={fee} />, isNumber: true, isMinor: true },
  ];
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={transactions}
      keyOf={({ id }, index) => (isSteady ? index : (keys.get(id) ?? id))}
      {...(isSteady && { isSteady })}
      empty={empty}
    />
  );
}

function Type({ transaction, of }: { transaction: Transaction; of?: string | undefined }) {
  const isReceived = of !== undefined && transaction.sender !== of && transaction.amount === "0";
  const title = titleOf(transaction);
  return (
    <>
      <span title={title}>{title}</span> {isReceived && <Badge tone="good">in</Badge>}
    </>
  );
}

function Subject({ transaction }: { transaction: Transaction }) {
  const [word, parts] = subjectOf(transaction);
  return (
    <>
      {word && `${word} `}
      {parts.slice(0, 1).map((part) => (
        <PartView key="first" part={part} />
      ))}
    </>
  );
}

const AmountOrNothing = ({ amount }: { amount: string }) =>
  amount === "0" ? <span class="quiet">–</span> : <Amount value={amount} />;
