/** Signs in with the code of a one-time link in the URL fragment, or with the webhook token. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { errorText } from "../../components/error-text.ts";
import { Page } from "../../components/page.tsx";
import { Loading } from "../../components/states.tsx";
import { useNode } from "../../data/node.ts";
import type { Credential } from "../../session/session.ts";
import "./sign-in.css";

export default function SignIn() {
  const { session } = useNode();
  const { isBusy, failure, signIn } = useSignIn();

  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get("code");
    if (!code) return;
    // Removes the code from the history, because it is valid until used.
    history.replaceState(history.state, "", location.pathname);
    void signIn({ code });
  }, []);

  if (session.state.value?.signedIn) {
    return (
      <Page title="Signed in">
        <p>You can manage webhooks and the node.</p>
        <p>
          <button type="button" onClick={session.signOut}>
            Sign out
          </button>
        </p>
      </Page>
    );
  }
  return (
    <Page title="Sign in">
      <p class="quiet">
        The chain is public. Webhooks, live events and the node page require the webhook token of the node.
      </p>
      {failure && (
        <p class="sign-in-failure" role="alert">
          {failure}
        </p>
      )}
      {isBusy ? <Loading lines={1} /> : <TokenForm onToken={(token) => void signIn({ token })} />}
    </Page>
  );
}

/** Signs in, and leads to the overview. */
function useSignIn() {
  const { session } = useNode();
  const { route } = useLocation();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function signIn(credential: Credential): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      await session.signIn(credential);
      route("/console/", true);
    } catch (error) {
      setFailure(errorText(error));
    } finally {
      setBusy(false);
    }
  }

  return { isBusy, failure, signIn };
}

function TokenForm({ onToken }: { onToken: (token: string) => void }) {
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get("token");
    if (typeof token === "string" && token.trim() !== "") onToken(token.trim());
  }

  return (
    <form class="sign-in card" onSubmit={onSubmit}>
      <label for="token">Webhook token of the node</label>
      <input id="token" name="token" type="password" autocomplete="off" required />
      <button type="submit" class="primary">
        Sign in
      </button>
      <p class="quiet">
        <code>uniknode token</code> shows the token. <code>uniknode console</code> prints a link that signs in
        without it.
      </p>
    </form>
  );
}
