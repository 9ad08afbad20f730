/** Send screen: builds and signs a transaction, or sends an externally signed one. */

import { useListState } from "../../components/list-state.ts";
import { loadable } from "../../components/loadable.tsx";
import { Page } from "../../components/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { OrderForm } from "./order-form.tsx";
import { isKind } from "./read-order.ts";
import "./send.css";

const Broadcast = loadable(() => import("./broadcast.tsx"), "part");

const SIGNED = "signed";
const VIEWS = [
  { id: "transfer", title: "Transfer" },
  { id: "vote", title: "Vote" },
  { id: "mint", title: "Mint a unik" },
  { id: "update", title: "Properties" },
  { id: SIGNED, title: "Signed JSON" },
];

export default function Send() {
  const { query, change } = useListState();
  const { kind = "transfer" } = query;
  const selected = isKind(kind) || kind === SIGNED ? kind : "transfer";
  return (
    <Page title="Send">
      <Tabs
        label="Kind of transaction"
        tabs={VIEWS}
        selected={selected}
        onSelect={(kind) => change({ kind: kind === "transfer" ? "" : kind }, true)}
      >
        {isKind(selected) ? <OrderForm key={selected} kind={selected} /> : <Broadcast />}
      </Tabs>
    </Page>
  );
}
