/** Frame of the documentation pages: search, list of documents, and the page or the search results. */
import type { ComponentChildren } from "preact";
import { Page } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { Listing } from "./listing.tsx";
import { Results } from "./results.tsx";
import { SearchBox } from "./search-box.tsx";
import { CONTENTS_FILE, type Contents } from "./tree.ts";
import { useFile } from "./use-file.ts";
import { useQuery } from "./use-query.ts";
import "./docs.css";

export type DocsFrameProps = {
  /** Path after `/console/docs/`, as in the list. */
  readonly path: string;
  readonly title: string;
  readonly children: ComponentChildren;
};

export function DocsFrame({ path, title, children }: DocsFrameProps) {
  const query = useQuery();
  const contents = useFile<Contents>(`/console/${CONTENTS_FILE}`);
  const isSearch = query.trim() !== "";
  return (
    <Page title={isSearch ? "Search" : title}>
      <div class="docs">
        <div class="docs-side">
          <SearchBox />
          <ResponseView response={contents} what="The list of documents">
            {(contents) => <Listing key={path} contents={contents} path={path} />}
          </ResponseView>
        </div>
        {isSearch ? <Results query={query} /> : children}
      </div>
    </Page>
  );
}
