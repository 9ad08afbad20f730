/** The uniks of the chain. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Uniks() {
  return (
    <Page title="Uniks">
      <Empty title="This screen is not built yet">The API has them: /api/uniks</Empty>
    </Page>
  );
}
