/** Notice that the session has ended, with a form that signs in again and repeats refused actions. */

import { useState } from "preact/hooks";
import { announce } from "../components/announce.tsx";
import { Dialog } from "../components/dialog.tsx";
import { errorText } from "../components/error-text.ts";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";

export default function SignedOut() {
  const { session, heldRequests } = useNode();
  const [isAsking, setAsking] = useState(false);
  const count = heldRequests.count.value;
  const close = () => {
    setAsking(false);
    heldRequests.drop();
  };
  if (!session.isLost.value && count === 0) return null;
  return (
    <>
      <div class="warning">
        <Icon name="warning" />
        <span>Signed out. The session has ended, or the node was restarted without it.</span>
        <button type="button" onClick={() => setAsking(true)}>
          Sign in
        </button>
      </div>
      <Dialog title="Signed out" isOpen={isAsking || count > 0} onClose={close}>
        <SignInAgain count={count} onDone={() => setAsking(false)} />
      </Dialog>
    </>
  );
}

function SignInAgain({ count, onDone }: { count: number; onDone: () => void }) {
  const { session, heldRequests } = useNode();
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy || token.trim() === "") return;
    setBusy(true);
    try {
      await session.signIn({ token: token.trim() });
      announce("Signed in");
      heldRequests.repeat();
      onDone();
    } catch (error) {
      setFailure(errorText(error));
      setBusy(false);
    }
  }

  return (
    <form class="outcome" onSubmit={onSubmit}>
      <p>
        {count > 0
          ? "The node did not execute your last action, because your session has ended."
          : "Your session has ended. This page shows data from before."}
      </p>
      {failure && (
        <p class="bad-text" role="alert">
          {failure}
        </p>
      )}
      <div class="field">
        <label for="token-again">Webhook token of the node</label>
        <input
          id="token-again"
          type="password"
          autocomplete="off"
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <p class="quiet">
          <code>uniknode token</code> prints it.
        </p>
      </div>
      <button type="submit" class="primary" disabled={isBusy}>
        {count > 0 ? "Sign in and repeat" : "Sign in"}
      </button>
    </form>
  );
}
