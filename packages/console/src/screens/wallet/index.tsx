/** A wallet. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function WalletScreen() {
  return (
    <Page title="Wallet">
      <Empty title="This screen is not built yet">The API has it: /api/wallets/ADDRESS</Empty>
    </Page>
  );
}
