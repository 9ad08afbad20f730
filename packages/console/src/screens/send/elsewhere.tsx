/** The same order in a terminal and in a program. */
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code-block.tsx";
import { Section } from "../../components/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { type Chosen, commandOf, programOf } from "../../signing/elsewhere.ts";
import type { Order } from "../../signing/order.ts";

const FORMS = [
  { id: "command", title: "Command line" },
  { id: "program", title: "JavaScript" },
];

export type ElsewhereProps = {
  readonly order: Order;
  readonly chosen: Chosen;
  /** What was typed for it. */
  readonly delegate: string;
};

export function Elsewhere({ order, chosen, delegate }: ElsewhereProps) {
  const [form, setForm] = useState("command");
  return (
    <Section title="The same elsewhere">
      <Tabs label="Forms of this transaction" tabs={FORMS} selected={form} onSelect={setForm}>
        {form === "command" ? (
          <CodeBlock text={commandOf(order, chosen, delegate, location.origin)} what="command" />
        ) : (
          <CodeBlock text={programOf(order, chosen, location.origin)} what="program" />
        )}
      </Tabs>
    </Section>
  );
}
