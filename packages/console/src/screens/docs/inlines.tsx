/** Renders inline text with emphasis and links. */
import type { Inline } from "./tree.ts";

export const Inlines = ({ inlines }: { inlines: readonly Inline[] }) => (
  <>
    {inlines.map((inline, index) =>
      typeof inline === "string" ? inline : <Marked key={index} inline={inline} />,
    )}
  </>
);

function Marked({ inline }: { inline: Exclude<Inline, string> }) {
  if (inline.kind === "code") return <code>{inline.text}</code>;
  if (inline.kind === "break") return <br />;
  const content = <Inlines inlines={inline.children} />;
  switch (inline.kind) {
    case "strong":
      return <strong>{content}</strong>;
    case "emphasis":
      return <em>{content}</em>;
    case "deleted":
      return <del>{content}</del>;
    case "link":
      return (
        <a href={inline.href} rel={/^[#/]/.test(inline.href) ? undefined : "noreferrer"}>
          {content}
        </a>
      );
  }
}
