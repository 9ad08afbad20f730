/** How the node is, and the newest blocks. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Overview() {
  return (
    <Page title="Overview">
      <Empty title="This screen is not built yet">The API has it: /api/blockchain</Empty>
    </Page>
  );
}
