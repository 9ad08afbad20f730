/** Uniks, votes and locks of a wallet. */
import type { Lock } from "@uniknode/client";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { countText } from "../../components/format.ts";
import { Address, TransactionId } from "../../components/identifier.tsx";
import { useListState } from "../../components/list-state.ts";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const LIMIT = 25;

export function Uniks({ address }: { address: string }) {
  const { api } = useNode();
  const { page } = useListState();
  const response = useResponse(`wallet ${address} uniks ${page}`, () =>
    api.wallets.uniks(address).page({ page, limit: LIMIT }),
  );
  return (
    <ResponseView response={response} what="The list">
      {({ data, meta }) => (
        <div class="section">
          <UnikTable caption="Uniks of the wallet" uniks={data} empty={<Empty title="No uniks" />} />
          <Pager meta={meta} what="uniks" />
        </div>
      )}
    </ResponseView>
  );
}

export function Votes({ address }: { address: string }) {
  const { api } = useNode();
  const { page } = useListState();
  const response = useResponse(`wallet ${address} votes ${page}`, () =>
    api.wallets.votes(address).page({ page, limit: LIMIT }),
  );
  return (
    <ResponseView response={response} what="The list">
      {({ data, meta }) => (
        <div class="section">
          <TransactionTable
            caption="Votes of the wallet"
            transactions={data}
            of={address}
            empty={<Empty title="No votes" />}
          />
          <Pager meta={meta} what="votes" />
        </div>
      )}
    </ResponseView>
  );
}

export function Locks({ address }: { address: string }) {
  const { api } = useNode();
  const { page } = useListState();
  const symbol = useSymbol();
  const response = useResponse(`wallet ${address} locks ${page}`, () =>
    api.wallets.locks(address).page({ page, limit: LIMIT }),
  );
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
    <ResponseView response={response} what="The list">
      {({ data, meta }) => (
        <div class="section">
          <Table
            caption="Open locks of the wallet"
            columns={columns}
            rows={data}
            keyOf={({ lockId }) => lockId}
            empty={<Empty title="No open locks" />}
          />
          <Pager meta={meta} what="locks" />
        </div>
      )}
    </ResponseView>
  );
}
