/** Button that copies a text and confirms it. */
import { useEffect, useState } from "preact/hooks";
import { announce } from "./announce.tsx";
import { Icon } from "./icon.tsx";

const SHOWN_MS = 1_500;

export type CopyButtonProps = {
  readonly text: string;
  /** Label, such as `address` or `curl command`. */
  readonly what: string;
};

export function CopyButton({ text, what }: CopyButtonProps) {
  // The text may change, because lists reuse rows.
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

/** Fallback for pages without TLS from another machine, which have no clipboard API. */
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
