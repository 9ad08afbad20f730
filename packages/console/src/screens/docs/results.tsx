/** Search results, best first. Arrow keys move between them. */

import { Empty, ResponseView } from "../../components/states.tsx";
import { find } from "./search.ts";
import { SEARCH_FILE, type SearchData } from "./tree.ts";
import { useFile } from "./use-file.ts";

export const FIRST_RESULT = "docs-first-result";

export function Results({ query }: { query: string }) {
  return (
    <ResponseView response={useFile<SearchData>(`/console/${SEARCH_FILE}`)} what="The search">
      {(data) => <Found data={data} query={query} />}
    </ResponseView>
  );
}

function Found({ data, query }: { data: SearchData; query: string }) {
  const { found, total } = find(data, query);
  if (total === 0) {
    return (
      <Empty title={`No section has “${query}”`}>
        Try fewer or shorter words; a part of a word is enough.
      </Empty>
    );
  }
  return (
    <div class="docs-text">
      <p class="quiet" role="status">
        {total > found.length
          ? `${total} sections, the best ${found.length} of them`
          : `${total} section${total === 1 ? "" : "s"}`}
      </p>
      <ul class="docs-results" onKeyDown={onKeyDown}>
        {found.map(({ href, document, heading, excerpt }, index) => (
          <li key={href} class="card">
            <a href={href} id={index === 0 ? FIRST_RESULT : undefined}>
              {heading || document}
            </a>
            {heading && <span class="quiet"> · {document}</span>}
            <p class="quiet">
              {excerpt.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")];
  const next = links.indexOf(event.target as HTMLAnchorElement) + step;
  (links[next] ?? (next < 0 ? document.getElementById("docs-search") : undefined))?.focus();
}
