/** The operations of the API. */
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";

export default function ApiPage(_: { operation?: string | undefined }) {
  return (
    <Page title="API">
      <Empty title="The node describes its API itself">
        <a href="/documentation">Every route, to read and to try</a>
      </Empty>
    </Page>
  );
}
