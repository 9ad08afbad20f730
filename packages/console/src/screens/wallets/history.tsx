/** Transactions of a wallet. */
import type { TransactionOrder, TransactionSearch } from "@uniknode/client";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { Filters } from "../../components/filters.tsx";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { KINDS, kindText, titleOf } from "../../components/transactions/kinds.ts";
import { transactionRows } from "../../components/transactions/transaction-rows.ts";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const LIMIT = 25;

const DIRECTIONS = [
  { value: "", label: "Sent and received" },
  { value: "sent", label: "Sent" },
  { value: "received", label: "Received" },
];
const TYPES = [
  { value: "", label: "All types" },
  ...KINDS.map((kind) => ({ value: kindText(kind), label: titleOf(kind) })),
];
const ORDERS: readonly { readonly value: TransactionOrder | ""; readonly label: string }[] = [
  { value: "", label: "Newest first" },
  { value: "timestamp:asc", label: "Oldest first" },
  { value: "amount:desc", label: "Highest amount first" },
];

export function History({ address }: { address: string }) {
  const { api } = useNode();
  const { page, query } = useListState();
  const search = searchOf(address, query);
  const list = () => api.transactions.search(search);
  const response = useResponse(`wallet history ${JSON.stringify([page, search])}`, () =>
    list().page({ page, limit: LIMIT }),
  );
  return (
    <div class="section">
      <Filters
        fields={[
          { name: "direction", label: "Show", options: DIRECTIONS },
          { name: "type", label: "Type", options: TYPES },
          { name: "text", label: "Text", placeholder: "Vendor field" },
          { name: "orderBy", label: "Order", options: ORDERS },
        ]}
      >
        <ResponseView response={response} what="The list">
          {({ data, meta }) => (
            <>
              <TransactionTable
                caption="Transactions of the wallet"
                transactions={data}
                of={address}
                empty={<Empty title="No transaction matches" />}
              />
              <Pager meta={meta} what="transactions" />
              <ExportButtons name={`transactions-of-${address}`} rows={() => transactionRows(list())} />
            </>
          )}
        </ResponseView>
      </Filters>
    </div>
  );
}

/** Parses the filters in the URL, all of which are valid. */
export function searchOf(address: string, query: Readonly<Record<string, string>>): TransactionSearch {
  const { direction, type, text, orderBy } = query;
  const kind = KINDS.find((known) => kindText(known) === type);
  return {
    ...(direction === "sent" && { senderId: address }),
    ...(direction === "received" && { recipientId: address }),
    ...(direction !== "sent" && direction !== "received" && { addresses: [address] }),
    ...(kind && { type: kind.type, typeGroup: kind.typeGroup }),
    ...(text && { vendorField: text }),
    ...orderFrom(ORDERS, orderBy),
  };
}
