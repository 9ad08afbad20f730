/** The register of webhooks. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Webhooks() {
  return (
    <Page title="Webhooks">
      <Empty title="This screen is not built yet">The command line has it: uniknode webhooks</Empty>
    </Page>
  );
}
