/** The state of the node. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function NodeScreen() {
  return (
    <Page title="Node">
      <Empty title="This screen is not built yet">The command line has it: uniknode status</Empty>
    </Page>
  );
}
