/** Signing in. */
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export default function SignIn() {
  return (
    <Page title="Sign in">
      <Empty title="This screen is not built yet"></Empty>
    </Page>
  );
}
