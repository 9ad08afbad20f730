/** The wallets of the chain. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Wallets() {
  return (
    <Page title="Wallets">
      <Empty title="This screen is not built yet">The API has them: /api/wallets</Empty>
    </Page>
  );
}
