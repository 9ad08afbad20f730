/** Preview of the transaction that will be signed. */
import { ErrorBoundary } from "preact-iso/lazy";
import { loadable } from "../../components/loadable.tsx";
import { Empty } from "../../components/states.tsx";
import type { Draft } from "../../signing/build.ts";
import type { Sender } from "../../signing/sender.ts";

const DraftContent = loadable(
  async () => ({ default: (await import("./drafted.tsx")).DraftContent }),
  "nothing",
);

export type PreviewProps = { readonly draft: Draft | undefined; readonly sender: Sender | undefined };

export const Preview = ({ draft, sender }: PreviewProps) => (
  <section class="section" aria-label="What will be signed">
    <header>
      <h2>What will be signed</h2>
    </header>
    {draft && sender ? (
      <ErrorBoundary>
        <DraftContent draft={draft} wallet={sender.wallet} />
      </ErrorBoundary>
    ) : (
      <Empty title="Nothing yet">
        The transaction appears here in words and as JSON once the form is complete.
      </Empty>
    )}
  </section>
);
