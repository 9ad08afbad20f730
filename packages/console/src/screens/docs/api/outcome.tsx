/** Response to a request that was tried. */
import { Badge } from "../../../components/badge.tsx";
import { CodeBlock, Json } from "../../../components/code-block.tsx";
import { jsonOf, type Outcome } from "./request.ts";

export function OutcomeView({ outcome }: { outcome: Outcome | Error }) {
  if (outcome instanceof Error) return <p class="bad-text">{outcome.message}</p>;
  const { status, headers, durationMs, text, isCut } = outcome;
  const value = isCut ? undefined : jsonOf(text);
  return (
    <div class="outcome">
      <p>
        <Badge tone={status < 300 ? "good" : status < 500 ? "warning" : "bad"}>{status}</Badge>{" "}
        <span class="quiet">
          {Math.round(durationMs)} ms, {text.length.toLocaleString("en")} characters
          {isCut && ". The response is longer and was cut"}
        </span>
      </p>
      {value !== undefined ? (
        <Json value={value} what="response" />
      ) : (
        text !== "" && <CodeBlock text={text} what="response" />
      )}
      <details>
        <summary>Headers</summary>
        <CodeBlock text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")} what="headers" />
      </details>
    </div>
  );
}
