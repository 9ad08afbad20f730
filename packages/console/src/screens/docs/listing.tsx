/** List of all documents; on narrow screens, it opens above the text. */

import type { Contents } from "./tree.ts";
import { useIsWide } from "./use-is-wide.ts";

const API = { path: "api", title: "API: read and try" };

export function Listing({ contents, path }: { contents: Contents; path: string }) {
  const isWide = useIsWide();
  const groups = contents.map(({ title, documents }) => (
    <details
      key={title}
      open={
        title === "Start" ||
        (title === "Reference" && path === API.path) ||
        documents.some((document) => document.path === path)
      }
    >
      <summary>{title}</summary>
      <ul>
        {(title === "Reference" ? [API, ...documents] : documents).map(({ path: to, title }) => (
          <li key={to}>
            <a href={`/console/docs${to && `/${to}`}`} aria-current={to === path ? "page" : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </details>
  ));
  return (
    <nav class="docs-list" aria-label="Documents">
      {isWide ? (
        groups
      ) : (
        <details>
          <summary>All documents</summary>
          <div>{groups}</div>
        </details>
      )}
    </nav>
  );
}
