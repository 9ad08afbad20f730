/** The same stream in a terminal and in a program. */
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code-block.tsx";
import { Section } from "../../components/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { type Choice, curlOf, programOf } from "./choice.ts";

const FORMS = [
  { id: "curl", title: "curl" },
  { id: "client", title: "JavaScript" },
];

export function SameElsewhere({ choice }: { choice: Choice }) {
  const [form, setForm] = useState("curl");
  const text = form === "curl" ? curlOf(choice, location.origin) : programOf(choice, location.origin);
  return (
    <Section title="The same elsewhere">
      <Tabs label="Forms of this stream" tabs={FORMS} selected={form} onSelect={setForm}>
        <CodeBlock text={text} what={form === "curl" ? "curl command" : "program"} />
      </Tabs>
    </Section>
  );
}
