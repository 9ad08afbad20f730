/** Renders the blocks of a document. */
import type { ComponentChildren } from "preact";
import { CodeBlock } from "../../components/code-block.tsx";
import { Inlines } from "./inlines.tsx";
import { sectionId } from "./sections.ts";
import { type Block, type Heading, textOf } from "./tree.ts";

export const Blocks = ({ blocks }: { blocks: readonly Block[] }) => (
  <>
    {blocks.map((block, index) => (
      <BlockView key={index} block={block} />
    ))}
  </>
);

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return <HeadingView heading={block} />;
    case "paragraph":
      return (
        <p>
          <Inlines inlines={block.children} />
        </p>
      );
    case "list":
      return block.start === undefined ? (
        <ul>{itemsOf(block.items)}</ul>
      ) : (
        <ol start={block.start}>{itemsOf(block.items)}</ol>
      );
    case "table":
      return <TableView table={block} />;
    case "code":
      return <CodeBlock text={block.text} what={`example ${block.number}`} />;
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "rule":
      return <hr />;
  }
}

const itemsOf = (items: readonly (readonly Block[])[]): ComponentChildren =>
  items.map((blocks, index) => <li key={index}>{itemOf(blocks)}</li>);

/** Renders list items; a single paragraph needs no element of its own. */
function itemOf([first, ...others]: readonly Block[]): ComponentChildren {
  if (first?.kind !== "paragraph") return first && <Blocks blocks={[first, ...others]} />;
  return (
    <>
      <Inlines inlines={first.children} />
      <Blocks blocks={others} />
    </>
  );
}

const TAGS = { 2: "h2", 3: "h3", 4: "h4" } as const;

function HeadingView({ heading: { level, anchor, children } }: { heading: Heading }) {
  const Tag = TAGS[level as 2] ?? (level === 1 ? "h2" : "h4");
  return (
    <Tag id={sectionId(anchor)} tabIndex={-1}>
      <Inlines inlines={children} />
      <a class="docs-anchor" href={`#${anchor}`} aria-label={`Link to ${textOf(children)}`}>
        #
      </a>
    </Tag>
  );
}

type TableViewProps = { readonly table: Extract<Block, { readonly kind: "table" }> };

const TableView = ({ table: { number, head, rows } }: TableViewProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard
  <section class="docs-table" aria-label={`table ${number}`} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map((cell, index) => (
            <th key={index} scope="col">
              <Inlines inlines={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, index) => (
              <td key={index}>
                <Inlines inlines={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
