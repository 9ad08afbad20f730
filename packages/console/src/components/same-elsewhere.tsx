/** Shows the action of a page as a command and as code. */
import { useState } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { Tabs } from "./tabs.tsx";

/** One form, such as `{ id: "curl", title: "curl", text: "curl …" }`. */
export type Form = { readonly id: string; readonly title: string; readonly text: string };

export type SameElsewhereProps = {
  /** Forms, at least one. */
  readonly forms: readonly Form[];
  /** Name of the action, such as `Mine`. */
  readonly what?: string;
};

export function SameElsewhere({ forms, what = "this page" }: SameElsewhereProps) {
  const [selected, setSelected] = useState<string>();
  const form = forms.find(({ id }) => id === selected) ?? forms[0]!;
  return (
    <details class="elsewhere">
      <summary>Equivalent commands and code</summary>
      <Tabs label={`Forms of ${what}`} tabs={forms} selected={form.id} onSelect={setSelected}>
        <CodeBlock text={form.text} what={`${form.title} form of ${what}`} />
      </Tabs>
    </details>
  );
}

/** Quotes a text as one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Builds a curl command with the webhook token as `$TOKEN`. */
export function curlOf(method: string, url: string, body?: object): string {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  if (body === undefined) return `curl${verb} -H "Authorization: $TOKEN" ${quoted(url)}`;
  return `curl${verb} -H "Authorization: $TOKEN" -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify(body))} ${quoted(url)}`;
}

/** Builds a program around one statement that uses `client`. */
export const programOf = (statement: string, origin: string): string =>
  `import { createClient } from "@uniknode/client";

const client = createClient({ url: ${JSON.stringify(origin)}, webhookToken: process.env.TOKEN });
${statement}
`;
