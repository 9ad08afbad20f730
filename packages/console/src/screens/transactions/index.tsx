/** List of confirmed or pending transactions. */
import type { TransactionOrder, TransactionSearch } from "@uniknode/client";
import { unitsOf } from "../../components/amount.tsx";
import { Filters } from "../../components/filters.tsx";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { KINDS, kindText, titleOf } from "../../components/transactions/kinds.ts";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const LIMIT = 25;
const POOL_INTERVAL_MS = 2_000;

const STATES = [
  { value: "", label: "Confirmed" },
  { value: "pending", label: "Pending" },
];
const TYPES = [
  { value: "", label: "All types" },
  ...KINDS.map((kind) => ({
    value: kindText(kind),
    // Two groups have types with the same name.
    label:
      kind.typeGroup === 1 && KINDS.filter(({ title }) => title === kind.title).length > 1
        ? `${titleOf(kind)} (core)`
        : titleOf(kind),
  })),
];
const ORDERS: readonly { readonly value: TransactionOrder | ""; readonly label: string }[] = [
  { value: "", label: "Newest first" },
  { value: "timestamp:asc", label: "Oldest first" },
  { value: "amount:desc", label: "Highest amount first" },
  { value: "fee:desc", label: "Highest fee first" },
];

export default function Transactions() {
  const { query } = useListState();
  const isPending = query.state === "pending";
  return (
    <Page title="Transactions">
      <Filters
        fields={[
          { name: "state", label: "Show", options: STATES },
          ...(isPending
            ? []
            : [
                { name: "type", label: "Type", options: TYPES },
                { name: "address", label: "Sender or recipient", placeholder: "Address" },
                { name: "text", label: "Text", placeholder: "Vendor field" },
                { name: "least", label: "Amount from", placeholder: "0.00" },
                { name: "orderBy", label: "Order", options: ORDERS },
              ]),
        ]}
      />
      {isPending ? <Pending /> : <Confirmed />}
    </Page>
  );
}

function Confirmed() {
  const { api } = useNode();
  const { page, query } = useListState();
  const search = searchOf(query);
  const response = useResponse(`transactions ${JSON.stringify([page, search])}`, () =>
    api.transactions.search(search).page({ page, limit: LIMIT }),
  );
  return (
    <ResponseView response={response} what="The list" lines={LIMIT}>
      {({ data, meta }) => (
        <>
          <TransactionTable
            caption="Transactions"
            transactions={data}
            empty={<Empty title="No transaction matches">Clear the filters to see all transactions.</Empty>}
          />
          <Pager meta={meta} what="transactions" />
        </>
      )}
    </ResponseView>
  );
}

function Pending() {
  const { api } = useNode();
  const { page } = useListState();
  const response = useResponse(
    `pool ${page}`,
    () => api.transactions.unconfirmed().page({ page, limit: LIMIT }),
    { everyMs: POOL_INTERVAL_MS },
  );
  return (
    <ResponseView response={response} what="The pool">
      {({ data, meta }) => (
        <>
          <TransactionTable
            caption="Pending transactions"
            transactions={data}
            empty={
              <Empty title="The pool is empty">Transactions stay here until a delegate forges them.</Empty>
            }
          />
          <Pager meta={meta} what="transactions" />
        </>
      )}
    </ResponseView>
  );
}

/** Parses the filters in the URL, and ignores invalid ones. */
export function searchOf(query: Readonly<Record<string, string>>): TransactionSearch {
  const { type = "", address, text, least = "", orderBy } = query;
  const kind = KINDS.find((known) => kindText(known) === type);
  const amount = unitsOf(least);
  return {
    ...(kind && { type: kind.type, typeGroup: kind.typeGroup }),
    ...(address && /^[0-9A-Za-z]{34}$/.test(address) && { addresses: [address] }),
    ...(text && { vendorField: text }),
    ...(amount !== undefined && { amount: { from: amount } }),
    ...(ORDERS.some(({ value }) => value === orderBy) && { orderBy: orderBy as TransactionOrder }),
  };
}
