/** Sections of a document. */
import { sectionId } from "./sections.ts";
import { type Heading, textOf } from "./tree.ts";
import { useIsWide } from "./use-is-wide.ts";

export function Outline({ headings }: { headings: readonly Heading[] }) {
  const isWide = useIsWide();
  return (
    <nav class="docs-outline" aria-label="On this page">
      <details open={isWide} key={`${isWide}`}>
        <summary>On this page</summary>
        <ul>
          {headings.map(({ anchor, level, children }) => (
            <li key={sectionId(anchor)} class={level > 2 ? "deep" : undefined}>
              <a href={`#${anchor}`}>{textOf(children)}</a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}
