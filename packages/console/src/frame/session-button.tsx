/** Sign-in state in the header. */
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";

export function SessionButton() {
  const { session } = useNode();
  const { value } = session.state;
  if (value === undefined) return null;
  return value.signedIn && !session.isLost.value ? (
    <button type="button" class="plain" title="Sign out" aria-label="Sign out" onClick={session.signOut}>
      <Icon name="signout" />
    </button>
  ) : (
    <a class="button plain" href="/console/sign-in">
      Sign in
    </a>
  );
}
