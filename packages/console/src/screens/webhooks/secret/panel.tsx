/** Shows the secret of a webhook once after creation; the browser does not store it. */

import type { WebhookWithToken } from "@uniknode/client";
import { CodeBlock } from "../../../components/code-block.tsx";
import { loadable } from "../../../components/loadable.tsx";
import { Facts } from "../../../components/page.tsx";
import { Time } from "../../../components/time.tsx";
import { useNode } from "../../../data/node.ts";
import { Outcome, pingOf, useAction } from "../use-action.tsx";

const ReceiverCode = loadable(() => import("./receiver-code.tsx"), "part");

export function SecretPanel({ webhook }: { webhook: WebhookWithToken }) {
  const { secret, token, overlapUntil } = webhook;
  const { webhooks } = useNode().operations;
  const action = useAction();
  return (
    <>
      <p class="sentence">
        This is the secret of the webhook. <strong>It is not shown again</strong>: copy it to your receiver.
      </p>
      <Facts
        facts={[
          ["Secret", <CodeBlock key="secret" text={secret} what="secret" />],
          ["Token", <CodeBlock key="token" text={token} what="token" />],
          [
            "Previous secret",
            overlapUntil !== undefined && (
              <>
                is valid until <Time timeMs={overlapUntil} clock="machine" isWhole />: until then deliveries
                carry a signature of each
              </>
            ),
          ],
        ]}
      />
      <p>
        <button
          type="button"
          disabled={action.isRunning}
          onClick={() => void action.run(() => pingOf(webhooks, webhook))}
        >
          Ping the receiver
        </button>
      </p>
      <Outcome action={action} />
      <ReceiverCode />
    </>
  );
}
