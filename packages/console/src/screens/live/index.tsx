/** Events as they happen. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Live() {
  return (
    <Page title="Live events">
      <Empty title="This screen is not built yet">The command line has it: uniknode listen</Empty>
    </Page>
  );
}
