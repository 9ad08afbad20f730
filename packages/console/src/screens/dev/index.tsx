/** The verbs of a dev chain. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function DevChain() {
  return (
    <Page title="Dev chain">
      <Empty title="This screen is not built yet">The API has them: /api/dev</Empty>
    </Page>
  );
}
