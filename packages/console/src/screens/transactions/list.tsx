/** List of confirmed or pending transactions. */
import { jsonText, type TransactionOrder, type TransactionSearch } from "@uniknode/client";
import { unitsOf } from "../../components/amount.tsx";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { addressFault, amountFault } from "../../components/faults.ts";
import { areValid, type FilterField, Filters } from "../../components/filters.tsx";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { KINDS, kindText, titleOf } from "../../components/transactions/kinds.ts";
import { transactionRows } from "../../components/transactions/transaction-rows.ts";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { useNode } from "../../data/node.ts";

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

const FIELDS: readonly FilterField[] = [
  { name: "type", label: "Type", options: TYPES },
  { name: "address", label: "Sender or recipient", placeholder: "Address", faultOf: addressFault },
  { name: "text", label: "Text", placeholder: "Vendor field" },
  { name: "least", label: "Amount from", placeholder: "0.00", faultOf: amountFault },
  { name: "orderBy", label: "Order", options: ORDERS },
];

export default function Transactions() {
  const { api } = useNode();
  const { query } = useListState();
  const isPending = query.state === "pending";
  const list = () => (isPending ? api.transactions.unconfirmed() : api.transactions.search(searchOf(query)));
  return (
    <Page
      title="Transactions"
      aside={
        (isPending || areValid(FIELDS, query)) && (
          <ExportButtons name="transactions" rows={() => transactionRows(list())} />
        )
      }
    >
      <Filters fields={[{ name: "state", label: "Show", options: STATES }, ...(isPending ? [] : FIELDS)]}>
        {isPending ? <Pending /> : <Confirmed />}
      </Filters>
    </Page>
  );
}

function Confirmed() {
  const { api } = useNode();
  const search = searchOf(useListState().query);
  return (
    <PagedList
      name={`transactions ${jsonText(search)}`}
      list={() => api.transactions.search(search)}
      what="transactions"
      lines={25}
    >
      {(transactions) => (
        <TransactionTable
          caption="Transactions"
          transactions={transactions}
          empty={<Empty title="No transaction matches">Clear the filters to see all transactions.</Empty>}
        />
      )}
    </PagedList>
  );
}

function Pending() {
  const { api } = useNode();
  return (
    <PagedList
      name="pool"
      list={() => api.transactions.unconfirmed()}
      what="transactions"
      title="The pool"
      everyMs={POOL_INTERVAL_MS}
    >
      {(transactions) => (
        <TransactionTable
          caption="Pending transactions"
          transactions={transactions}
          empty={
            <Empty title="The pool is empty">Transactions stay here until a delegate forges them.</Empty>
          }
        />
      )}
    </PagedList>
  );
}

/** Parses the filters in the URL, all of which are valid. */
export function searchOf(query: Readonly<Record<string, string>>): TransactionSearch {
  const { type = "", address, text, least = "", orderBy } = query;
  const kind = KINDS.find((known) => kindText(known) === type);
  const amount = unitsOf(least);
  return {
    ...(kind && { type: kind.type, typeGroup: kind.typeGroup }),
    ...(address && { addresses: [address] }),
    ...(text && { vendorField: text }),
    ...(amount !== undefined && { amount: { from: amount } }),
    ...orderFrom(ORDERS, orderBy),
  };
}
