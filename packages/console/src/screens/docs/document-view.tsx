/** Document with its outline; a URL with an anchor scrolls to its section. */
import { useMemo } from "preact/hooks";
import { Blocks } from "./blocks.tsx";
import { Outline } from "./outline.tsx";
import { useSection } from "./sections.ts";
import type { Block, Heading } from "./tree.ts";

const LISTED_LEVELS = 3;

export function DocumentView({ blocks }: { blocks: readonly Block[] }) {
  const headings = useMemo(
    () =>
      blocks.filter((block): block is Heading => block.kind === "heading" && block.level <= LISTED_LEVELS),
    [blocks],
  );
  useSection();
  return (
    <>
      <article class="docs-text">
        <Blocks blocks={blocks} />
      </article>
      {headings.length > 1 && <Outline headings={headings} />}
    </>
  );
}
