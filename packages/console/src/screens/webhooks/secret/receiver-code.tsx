/** Code of a receiver to copy. */
import { useState } from "preact/hooks";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Section } from "../../../components/page.tsx";
import { Tabs } from "../../../components/tabs.tsx";
import { LANGUAGES } from "./languages.ts";

export default function ReceiverCode() {
  const [language, setLanguage] = useState<string>(LANGUAGES[0].id);
  const { title, text } = LANGUAGES.find(({ id }) => id === language) ?? LANGUAGES[0];
  return (
    <Section title="A receiver that verifies">
      <p>
        It reads the secret from the variable <code>WEBHOOK_SECRET</code>, checks the signature and the age of
        each delivery, and stores its fact once, until it is retracted.
      </p>
      <Tabs label="Languages" tabs={LANGUAGES} selected={language} onSelect={setLanguage}>
        <CodeBlock text={text} what={`receiver in ${title}`} />
      </Tabs>
    </Section>
  );
}
