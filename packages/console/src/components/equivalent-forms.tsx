/** Shows the action of a page as a command and as code. */
import { useState } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { Tabs } from "./tabs.tsx";

/** One form, such as `{ id: "curl", title: "curl", text: "curl …" }`. */
export type Form = { readonly id: string; readonly title: string; readonly text: string };

export type EquivalentFormsProps = {
  /** Forms, at least one. */
  readonly forms: readonly Form[];
  /** Name of the action, such as `Mine`. */
  readonly what?: string;
};

export function EquivalentForms({ forms, what = "this page" }: EquivalentFormsProps) {
  const [selected, setSelected] = useState<string>();
  const form = forms.find(({ id }) => id === selected) ?? forms[0];
  if (!form) return null;
  return (
    <details class="elsewhere">
      <summary>Equivalent commands and code</summary>
      <Tabs label={`Forms of ${what}`} tabs={forms} selected={form.id} onSelect={setSelected}>
        <CodeBlock text={form.text} what={`${form.title} form of ${what}`} />
      </Tabs>
    </details>
  );
}
