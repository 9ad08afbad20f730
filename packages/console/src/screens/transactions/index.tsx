/** The transactions of the chain, and those that wait. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Transactions() {
  return (
    <Page title="Transactions">
      <Empty title="This screen is not built yet">The API has them: /api/transactions</Empty>
    </Page>
  );
}
