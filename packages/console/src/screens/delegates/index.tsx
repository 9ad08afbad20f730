/** The delegates and the round. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Delegates() {
  return (
    <Page title="Delegates">
      <Empty title="This screen is not built yet">The API has them: /api/delegates</Empty>
    </Page>
  );
}
