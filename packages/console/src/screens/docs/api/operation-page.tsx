/** Operation: parameters, responses, and a form to try it. */
import { Badge } from "../../../components/badge.tsx";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Facts, Section } from "../../../components/page.tsx";
import { shapeOf } from "./shape.ts";
import { type OperationProps, TryIt } from "./try-it.tsx";
import { Words } from "./words.tsx";

export function OperationPage({ operation, schemas }: OperationProps) {
  const { summary, needsToken, body, responses } = operation;
  const success = responses.find(({ status, schema }) => status.startsWith("2") && schema);
  return (
    <>
      <p class="quiet">
        <a href="/console/docs/api">All operations</a>
      </p>
      <p class="sentence">
        <Words text={summary} /> {needsToken && <Badge>requires the token</Badge>}
      </p>
      <TryIt operation={operation} schemas={schemas} />
      {body && (
        <Section title="Request body">
          <CodeBlock text={shapeOf(body, schemas)} what="shape of the body" />
        </Section>
      )}
      {success?.schema && (
        <Section title={`Response (${success.status})`}>
          <CodeBlock text={shapeOf(success.schema, schemas)} what="shape of the response" />
        </Section>
      )}
      <Section title="All responses">
        <Facts
          facts={responses.map(
            ({ status, description }) => [status, <Words key={status} text={description} />] as const,
          )}
        />
      </Section>
    </>
  );
}
