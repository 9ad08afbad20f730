/** A transaction. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function TransactionScreen() {
  return (
    <Page title="Transaction">
      <Empty title="This screen is not built yet">The API has it: /api/transactions/ID</Empty>
    </Page>
  );
}
