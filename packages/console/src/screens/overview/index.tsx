/** State of the node, and latest activity on its chain. */
import { ErrorBoundary } from "preact-iso/lazy";
import { loadable } from "../../components/loadable.tsx";
import { Page, Section } from "../../components/page.tsx";
import { RoundMonitor } from "../../components/round/round-monitor.tsx";
import { Empty, Loading, ResponseView } from "../../components/states.tsx";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { shownVerdict } from "../../data/verdict.ts";
import { BlockRow } from "./block-row.tsx";
import { Figures } from "./figures.tsx";
import { Verdict } from "./verdict.tsx";
import { WebhookTrouble } from "./webhook-trouble.tsx";
import "./overview.css";

/** Shown below the rest, and loaded after it. */
const ActivityCharts = loadable(() => import("./activity.tsx"), "part");

const SHOWN_TRANSACTIONS = 10;

export default function Overview() {
  const { head, configuration } = useNode();
  const isConnecting = shownVerdict.value.state === "connecting";
  if (isConnecting || !head.value || !configuration.value) {
    return <Page title="Overview">{isConnecting && <Loading lines={12} />}</Page>;
  }
  return (
    <Page title="Overview">
      <Verdict />
      <WebhookTrouble />
      <BlockRow />
      <Figures />
      <RoundMonitor isSteady />
      <div class="activity">
        <ErrorBoundary>
          <ActivityCharts />
        </ErrorBoundary>
      </div>
      <LatestTransactions />
    </Page>
  );
}

function LatestTransactions() {
  const { api } = useNode();
  const latest = useResponse("transactions newest", () =>
    api.transactions.list().page({ limit: SHOWN_TRANSACTIONS }),
  );
  return (
    <Section title="Latest transactions" aside={<a href="/console/transactions">All transactions</a>}>
      <ResponseView response={latest} what="The list" lines={SHOWN_TRANSACTIONS}>
        {({ data }) => (
          <TransactionTable
            caption="Latest transactions"
            isSteady
            transactions={data}
            empty={
              <Empty title="No transactions yet">They appear here with the blocks that contain them.</Empty>
            }
          />
        )}
      </ResponseView>
    </Section>
  );
}
