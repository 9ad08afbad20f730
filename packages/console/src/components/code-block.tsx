/** A program, a command or JSON: as it is, to be copied. */
import { CopyButton } from "./copy-button.tsx";

export type CodeBlockProps = {
  readonly text: string;
  /** What it is: `curl command`. */
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

/** A value with all digits of its integers. */
export const Json = ({ value, what = "JSON" }: { value: unknown; what?: string }) => (
  <CodeBlock text={indented(value)} what={what} />
);

// Part of every supported browser; the compiler's library does not list it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

const indented = (value: unknown): string =>
  JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? rawJSON(`${member}`) : member), 2) ??
  "";
