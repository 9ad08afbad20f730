/** Shows a program, a command or JSON with a copy button. */
import { CopyButton } from "./copy-button.tsx";

export type CodeBlockProps = {
  readonly text: string;
  /** Label, such as `curl command`. */
  readonly what: string;
};

export function CodeBlock({ text, what }: CodeBlockProps) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section class="code-text" aria-label={what} tabIndex={0}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** Shows a value as JSON with all digits of its integers. */
export const Json = ({ value, what = "JSON" }: { value: unknown; what?: string }) => (
  <CodeBlock text={indented(value)} what={what} />
);

// All supported browsers have it; the compiler's library does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Returns a value as indented JSON with all digits of its integers. */
export const indented = (value: unknown): string =>
  JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? rawJSON(`${member}`) : member), 2) ??
  "";
