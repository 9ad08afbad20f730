/** List of wallets. */
import { jsonText, type Wallet, type WalletOrder, type WalletSearch } from "@uniknode/client";
import { Amount, unitsOf, useSymbol } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { DelegateName } from "../../components/delegate-name.tsx";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { addressFault, amountFault, publicKeyFault } from "../../components/faults.ts";
import { areValid, Filters } from "../../components/filters.tsx";
import { countText } from "../../components/format.ts";
import { Address } from "../../components/identifier.tsx";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode } from "../../data/node.ts";

const ORDERS: readonly { readonly value: WalletOrder | ""; readonly label: string }[] = [
  { value: "", label: "Richest first" },
  { value: "balance:asc", label: "Poorest first" },
  { value: "nonce:desc", label: "Most transactions first" },
  { value: "address:asc", label: "By address" },
];

const FIELDS = [
  { name: "address", label: "Address", faultOf: addressFault },
  { name: "least", label: "Balance from", placeholder: "0.00", faultOf: amountFault },
  { name: "vote", label: "Votes for", placeholder: "Public key", faultOf: publicKeyFault },
  { name: "orderBy", label: "Order", options: ORDERS },
];

export default function Wallets() {
  const { api } = useNode();
  const { query } = useListState();
  const symbol = useSymbol();
  const { search, orderBy } = searchOf(query);
  const list = () => api.wallets.search(search, { orderBy });
  const columns: readonly Column<Wallet>[] = [
    { title: "Address", cell: ({ address }) => <Address address={address} /> },
    { title: "Roles", cell: (wallet) => <Roles wallet={wallet} /> },
    { title: "Votes for", cell: ({ vote }) => vote && <DelegateName id={vote} /> },
    { title: "Sent", cell: ({ nonce }) => countText(BigInt(nonce)), isNumber: true, isMinor: true },
    { title: `Balance ${symbol}`, cell: ({ balance }) => <Amount value={balance} />, isNumber: true },
  ];
  return (
    <Page
      title="Wallets"
      aside={areValid(FIELDS, query) && <ExportButtons name="wallets" rows={() => rowsOf(list())} />}
    >
      <Filters fields={FIELDS}>
        <PagedList name={`wallets ${jsonText([search, orderBy])}`} list={list} what="wallets" lines={25}>
          {(wallets) => (
            <Table
              caption="Wallets"
              columns={columns}
              rows={wallets}
              keyOf={({ address }) => address}
              empty={<Empty title="No wallet matches">Clear the filters to see all wallets.</Empty>}
            />
          )}
        </PagedList>
      </Filters>
    </Page>
  );
}

function Roles({ wallet }: { wallet: Wallet }) {
  const { isDelegate, isResigned, multiSignature, secondPublicKey, publicKey } = wallet;
  const uniks = Object.keys(wallet.attributes.tokens ?? {}).length;
  return (
    <span>
      {isDelegate && <Badge tone={isResigned ? "bad" : "good"}>{isResigned ? "resigned" : "delegate"}</Badge>}{" "}
      {multiSignature && <Badge>multi-signature</Badge>} {secondPublicKey && <Badge>second key</Badge>}{" "}
      {uniks > 0 && <Badge>{uniks === 1 ? "unik" : `${countText(uniks)} uniks`}</Badge>}{" "}
      {publicKey === undefined && <span class="quiet">has sent nothing</span>}
    </span>
  );
}

/** Parses the filters in the URL, all of which are valid. */
export function searchOf(query: Readonly<Record<string, string>>): {
  search: WalletSearch;
  orderBy: WalletOrder;
} {
  const { address, least = "", vote, orderBy } = query;
  const balance = unitsOf(least);
  return {
    search: {
      ...(address && { address }),
      ...(vote && { vote }),
      ...(balance !== undefined && { balance: { from: balance } }),
    },
    orderBy: orderFrom(ORDERS, orderBy).orderBy ?? "balance:desc",
  };
}

async function* rowsOf(wallets: AsyncIterable<Wallet>) {
  for await (const { address, publicKey = "", balance, nonce, username = "", vote = "" } of wallets) {
    yield { address, publicKey, balance, nonce, username, vote };
  }
}
