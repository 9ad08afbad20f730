/** The blocks of the chain. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Blocks() {
  return (
    <Page title="Blocks">
      <Empty title="This screen is not built yet">The API has them: /api/blocks</Empty>
    </Page>
  );
}
