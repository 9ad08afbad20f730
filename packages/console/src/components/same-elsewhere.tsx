/** What a page does, as a command and as a program. */
import { useState } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { Tabs } from "./tabs.tsx";

/** `text` is what is run: `{ id: "curl", title: "curl", text: "curl …" }`. */
export type Form = { readonly id: string; readonly title: string; readonly text: string };

export type SameElsewhereProps = {
  /** At least one. */
  readonly forms: readonly Form[];
  /** What the forms do: `Mine`. */
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

/** As one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A request with the webhook token, which is `$TOKEN`. */
export function curlOf(method: string, url: string, body?: object): string {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  if (body === undefined) return `curl${verb} -H "Authorization: $TOKEN" ${quoted(url)}`;
  return `curl${verb} -H "Authorization: $TOKEN" -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify(body))} ${quoted(url)}`;
}

/** A program around one statement with `client`. */
export const programOf = (statement: string, origin: string): string =>
  `import { createClient } from "@uniknode/client";

const client = createClient({ url: ${JSON.stringify(origin)}, webhookToken: process.env.TOKEN });
${statement}
`;
