/** Commands for actions that a page cannot do, such as receiving requests. */
import { CodeBlock } from "../../components/code-block.tsx";
import { Section } from "../../components/page.tsx";

const COMMANDS = [
  {
    title: "A receiver that prints each delivery",
    text: 'npm start -- listen --event "block.*"',
  },
  { title: "A transaction, and the event that it causes", text: "npm start -- trigger transaction.applied" },
];

export const Commands = () => (
  <Section title="In a terminal">
    <dl class="desk-commands">
      {COMMANDS.map(({ title, text }) => (
        <div key={text}>
          <dt>{title}</dt>
          <dd>
            <CodeBlock text={text} what={`command: ${title}`} />
          </dd>
        </div>
      ))}
    </dl>
  </Section>
);
