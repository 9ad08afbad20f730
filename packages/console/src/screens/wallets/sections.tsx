/** Uniks, votes and locks of a wallet. */
import type { Lock } from "@uniknode/client";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { countText } from "../../components/format.ts";
import { Address, TransactionId } from "../../components/identifier.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { useNode } from "../../data/node.ts";

export function Uniks({ address }: { address: string }) {
  const { api } = useNode();
  return (
    <PagedList
      name={`wallet ${address} uniks`}
      list={() => api.wallets.uniks(address)}
      what="uniks"
      isSection
    >
      {(rows) => <UnikTable caption="Uniks of the wallet" uniks={rows} empty={<Empty title="No uniks" />} />}
    </PagedList>
  );
}

export function Votes({ address }: { address: string }) {
  const { api } = useNode();
  return (
    <PagedList
      name={`wallet ${address} votes`}
      list={() => api.wallets.votes(address)}
      what="votes"
      isSection
    >
      {(rows) => (
        <TransactionTable
          caption="Votes of the wallet"
          transactions={rows}
          of={address}
          empty={<Empty title="No votes" />}
        />
      )}
    </PagedList>
  );
}

export function Locks({ address }: { address: string }) {
  const { api } = useNode();
  const symbol = useSymbol();
  const columns: readonly Column<Lock>[] = [
    { title: "Lock", cell: ({ lockId }) => <TransactionId id={lockId} /> },
    { title: "For", cell: ({ recipientId }) => <Address address={recipientId} /> },
    { title: "Since", cell: ({ timestamp }) => <Time timeMs={timestamp.unix * 1_000} /> },
    {
      title: "Ends",
      cell: ({ isExpired, expirationType, expirationValue }) =>
        isExpired ? (
          <Badge tone="warning">expired</Badge>
        ) : expirationType === 2 ? (
          `at height ${countText(expirationValue)}`
        ) : (
          `${countText(expirationValue)} s after the epoch`
        ),
    },
    { title: `Amount ${symbol}`, cell: ({ amount }) => <Amount value={amount} />, isNumber: true },
  ];
  return (
    <PagedList
      name={`wallet ${address} locks`}
      list={() => api.wallets.locks(address)}
      what="locks"
      isSection
    >
      {(rows) => (
        <Table
          caption="Open locks of the wallet"
          columns={columns}
          rows={rows}
          keyOf={({ lockId }) => lockId}
          empty={<Empty title="No open locks" />}
        />
      )}
    </PagedList>
  );
}
