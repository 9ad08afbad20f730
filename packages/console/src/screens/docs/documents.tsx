/** One document beside the list of all, or what the search finds in them. */

import { Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { DocumentView } from "./document-view.tsx";
import { Listing } from "./listing.tsx";
import { Results } from "./results.tsx";
import { SearchBox } from "./search-box.tsx";
import { CONTENTS_FILE, type Contents, type Document, documentFile } from "./tree.ts";
import { useFile } from "./use-file.ts";
import { useQuery } from "./use-query.ts";
import "./docs.css";

export function Documents({ path }: { path: string }) {
  const { query } = useQuery();
  const contents = useFile<Contents>(CONTENTS_FILE);
  const document = useFile<Document>(documentFile(path));
  const isSearch = query.trim() !== "";
  const title = isSearch
    ? "Search"
    : path === ""
      ? "Documentation"
      : (document.value?.title ?? "Documentation");
  return (
    <Page title={title}>
      <div class="docs">
        <div class="docs-side">
          <SearchBox />
          <Answered answer={contents} what="The list of documents">
            {(contents) => <Listing key={path} contents={contents} path={path} />}
          </Answered>
        </div>
        {isSearch ? (
          <Results query={query} />
        ) : document.error !== undefined && document.value === undefined ? (
          <Empty title="There is no such document">
            This version has none at this address. <a href="/console/docs">To the documentation</a>
          </Empty>
        ) : (
          <Answered answer={document} what="The document" lines={12}>
            {({ blocks }) => <DocumentView key={path} blocks={blocks} />}
          </Answered>
        )}
      </div>
    </Page>
  );
}
