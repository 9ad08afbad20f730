/** Form that sends an operation with the session of the console; changes require confirmation. */
import { useState } from "preact/hooks";
import { announce } from "../../../components/announce.tsx";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Field } from "../../../components/field.tsx";
import { Section } from "../../../components/page.tsx";
import { useNode } from "../../../data/node.ts";
import type { Operation, Schema } from "./openapi.ts";
import { OutcomeView } from "./outcome.tsx";
import { ParameterFields } from "./parameters.tsx";
import { curlOf, type Filled, faultsOf, type Outcome, send, urlOf } from "./request.ts";
import { exampleOf } from "./shape.ts";

export type OperationProps = {
  readonly operation: Operation;
  readonly schemas: Readonly<Record<string, Schema>>;
};

const BODY_ROWS = 8;

export function TryIt({ operation, schemas }: OperationProps) {
  const { session } = useNode();
  const { method, parameters, body: schema, needsToken, isReading } = operation;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(() => (schema ? JSON.stringify(exampleOf(schema, schemas), null, 2) : ""));
  const [isTried, setTried] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { isRunning, outcome, run } = useRun(operation);
  const filled = { values, body };
  const faults = isTried ? faultsOf(operation, filled) : {};

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faultsOf(operation, filled)).length > 0) return;
    if (isReading) void run(filled);
    else setAsking(true);
  }

  function onConfirm(): void {
    setAsking(false);
    void run(filled);
  }

  return (
    <Section title="Try it">
      <form class="card docs-try" onSubmit={onSubmit}>
        <ParameterFields
          parameters={parameters}
          values={values}
          faults={faults}
          onInput={(name, value) => setValues({ ...values, [name]: value })}
        />
        {schema && (
          <Field
            name="body"
            label="Body (JSON)"
            value={body}
            rows={BODY_ROWS}
            fault={faults.body}
            onInput={setBody}
          />
        )}
        <SubmitLine isRefused={needsToken && session.state.value?.signedIn !== true} isRunning={isRunning} />
      </form>
      {outcome && <OutcomeView outcome={outcome} />}
      <details>
        <summary>The same in a terminal</summary>
        <CodeBlock text={curlOf(operation, filled, location.origin)} what="curl command" />
      </details>
      <Dialog title="Send it?" isOpen={isAsking} onClose={() => setAsking(false)}>
        <Confirmation method={method} url={urlOf(operation, filled)} onConfirm={onConfirm} />
      </Dialog>
    </Section>
  );
}

/** Sends an operation, and keeps the outcome of the last request. */
function useRun(operation: Operation) {
  const { withKey } = useNode();
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | Error>();

  async function run(filled: Filled): Promise<void> {
    setRunning(true);
    const outcome = await send(operation.needsToken ? withKey : fetch, operation, filled).catch(
      (error: Error) => error,
    );
    setRunning(false);
    setOutcome(outcome);
    announce(outcome instanceof Error ? outcome.message : `The node responded with ${outcome.status}`);
  }

  return { isRunning, outcome, run };
}

type SubmitLineProps = {
  /** True if the operation requires a sign-in. */
  readonly isRefused: boolean;
  readonly isRunning: boolean;
};

const SubmitLine = ({ isRefused, isRunning }: SubmitLineProps) =>
  isRefused ? (
    <p>
      This requires the token, or a session:{" "}
      <a class="button" href="/console/sign-in">
        Sign in
      </a>
    </p>
  ) : (
    <p>
      <button type="submit" class="primary" disabled={isRunning}>
        {isRunning ? "Waiting…" : "Send"}
      </button>
    </p>
  );

type ConfirmationProps = {
  readonly method: string;
  readonly url: string;
  readonly onConfirm: () => void;
};

const Confirmation = ({ method, url, onConfirm }: ConfirmationProps) => (
  <>
    <p>This is a real request: the node will execute it.</p>
    <p>
      <code>
        {method} {url}
      </code>
    </p>
    <p>
      <button type="button" class="danger" onClick={onConfirm}>
        Send {method}
      </button>
    </p>
  </>
);
