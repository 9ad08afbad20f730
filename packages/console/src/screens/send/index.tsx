/** Making and sending transactions. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Send() {
  return (
    <Page title="Send">
      <Empty title="This screen is not built yet">The command line has it: uniknode tx</Empty>
    </Page>
  );
}
