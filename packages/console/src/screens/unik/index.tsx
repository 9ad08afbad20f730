/** A unik with its properties. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function UnikScreen() {
  return (
    <Page title="Unik">
      <Empty title="This screen is not built yet">The API has it: /api/uniks/ID</Empty>
    </Page>
  );
}
