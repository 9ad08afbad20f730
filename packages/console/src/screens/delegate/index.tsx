/** A delegate. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function DelegateScreen() {
  return (
    <Page title="Delegate">
      <Empty title="This screen is not built yet">The API has it: /api/delegates/NAME</Empty>
    </Page>
  );
}
