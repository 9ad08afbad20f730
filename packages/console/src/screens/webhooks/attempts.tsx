/** Attempts of a delivery as a timeline, and the next one. */
import type { DeliveryAttempt, DeliveryRecord } from "@uniknode/client";
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code-block.tsx";
import { countText } from "../../components/format.ts";
import { Time } from "../../components/time.tsx";
import { causeOf } from "./cause.ts";
import { headersOf } from "./forms.ts";
import { failureOf, NextAttempt } from "./state.tsx";

type AttemptsProps = { readonly delivery: DeliveryRecord };

export function Attempts({ delivery }: AttemptsProps) {
  const { attempts, nextAttemptAt, state } = delivery;
  return (
    <ol class="timeline">
      {attempts.map((attempt, index) => (
        <Attempt key={attempt.startedAt} number={index + 1} attempt={attempt} delivery={delivery} />
      ))}
      {state === "pending" && (
        <li class="next">
          <p>
            {nextAttemptAt === undefined ? (
              "Waits in the queue"
            ) : (
              <>
                Next attempt <NextAttempt atMs={nextAttemptAt} />
              </>
            )}
          </p>
        </li>
      )}
    </ol>
  );
}

type AttemptProps = AttemptsProps & {
  readonly number: number;
  readonly attempt: DeliveryAttempt;
};

function Attempt({ number, attempt, delivery }: AttemptProps) {
  const [isOpen, setOpen] = useState(false);
  const { startedAt, durationMs, response, responseHeaders } = attempt;
  const reason = failureOf(attempt);
  const code = codeOf(attempt);
  return (
    <li class={reason === undefined ? "good" : "bad"}>
      <p>
        <b>Attempt {number}</b> <Time timeMs={startedAt} clock="machine" isWhole />
        <span class="quiet"> · {countText(durationMs)} ms</span>
      </p>
      <p>
        {reason === undefined ? "The receiver accepted it." : causeOf(reason).text}
        {code !== undefined && (reason === undefined || attempt.status === undefined) && (
          <>
            {" "}
            <code>{code}</code>
          </>
        )}
      </p>
      {response && <p class="quiet text">Response: {response}</p>}
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Headers and signature</summary>
        {isOpen && (
          <>
            <CodeBlock text={headersOf(delivery, startedAt)} what={`headers of attempt ${number}`} />
            <p class="quiet">
              The key is the secret of the webhook. The receiver computes the same signature from the body as
              it arrived, before it parses it.
            </p>
            {responseHeaders !== undefined && (
              <>
                <p>Headers of the response</p>
                <CodeBlock text={responseHeaders} what={`response headers of attempt ${number}`} />
              </>
            )}
          </>
        )}
      </details>
    </li>
  );
}

const codeOf = ({ status, error }: DeliveryAttempt): string | undefined =>
  status === undefined ? error : `HTTP ${status}`;
