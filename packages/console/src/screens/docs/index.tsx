/** Guides and reference of this version. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function Documentation() {
  return (
    <Page title="Documentation">
      <Empty title="This screen is not built yet">The API is described at /documentation</Empty>
    </Page>
  );
}
