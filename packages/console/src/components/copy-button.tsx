/** Copies a text, and shows that it did. */
import { useEffect, useState } from "preact/hooks";
import { announce } from "./announce.tsx";
import { Icon } from "./icon.tsx";

const SHOWN_MS = 1_500;

export type CopyButtonProps = {
  readonly text: string;
  /** What is copied: `address`, `curl command`. */
  readonly what: string;
};

export function CopyButton({ text, what }: CopyButtonProps) {
  // The text may change: the row of a list becomes another one.
  const [copied, setCopied] = useState<string>();
  useEffect(() => {
    if (copied === undefined) return;
    const timer = setTimeout(() => setCopied(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function onClick(): Promise<void> {
    const isDone = await copy(text);
    setCopied(isDone ? text : undefined);
    announce(
      isDone ? `Copied the ${what}` : `The browser does not allow copying; select the ${what} instead`,
    );
  }

  return (
    <button type="button" class="copy" title={`Copy ${what}`} aria-label={`Copy ${what}`} onClick={onClick}>
      <Icon name={copied === text ? "check" : "copy"} />
    </button>
  );
}

/** Pages that came without TLS from another machine have no clipboard; the old command still works there. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "unseen";
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }
}
