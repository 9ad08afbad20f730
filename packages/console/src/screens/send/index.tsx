/** Send screen: builds and signs a transaction, or sends an externally signed one. */

import { loadable } from "../../components/loadable.tsx";
import { Page } from "../../components/page.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
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
  { id: "transfer-unik", title: "Transfer a unik" },
  { id: "disclose", title: "Disclose names" },
  { id: SIGNED, title: "Signed JSON" },
];

export default function Send() {
  return (
    <Page title="Send">
      <UrlTabs label="Kind of transaction" tabs={VIEWS} parameter="kind">
        {(kind) => (isKind(kind) ? <OrderForm key={kind} kind={kind} /> : <Broadcast />)}
      </UrlTabs>
    </Page>
  );
}
