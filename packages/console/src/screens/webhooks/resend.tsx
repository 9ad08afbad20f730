/** Sends an edited copy of the body of a delivery to another URL, once. */
import type { DeliveryRecord } from "@uniknode/client";
import { useState } from "preact/hooks";
import { indented } from "../../components/code-block.tsx";
import { Field } from "../../components/field.tsx";
import { useNode } from "../../data/node.ts";
import { Outcome, outcomeText, useAction } from "./use-action.tsx";

export function Resend({ body }: { readonly body: DeliveryRecord["body"] }) {
  const { webhooks } = useNode().operations;
  const action = useAction();
  const [target, setTarget] = useState("");
  const [text, setText] = useState(() => indented(body));
  const send = async () => {
    const url = target.trim();
    return outcomeText("the body", url, (await webhooks.pingTarget(url, text)).data);
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void action.run(send);
  };
  return (
    <details>
      <summary>Edit and send to another URL</summary>
      <form class="resend" onSubmit={onSubmit}>
        <Field
          name="other-url"
          label="URL"
          placeholder="https://receiver.example/hook"
          value={target}
          onInput={setTarget}
        />
        <Field
          name="other-body"
          label="Body"
          rows={12}
          value={text}
          onInput={setText}
          hint="It is sent once and not recorded. A receiver that verifies signatures refuses it: the secret is a temporary one."
        />
        <button type="submit" disabled={action.isRunning || target.trim() === ""}>
          Send once
        </button>
        <Outcome action={action} />
      </form>
    </details>
  );
}
