/** A block. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function BlockScreen() {
  return (
    <Page title="Block">
      <Empty title="This screen is not built yet">The API has it: /api/blocks/ID</Empty>
    </Page>
  );
}
