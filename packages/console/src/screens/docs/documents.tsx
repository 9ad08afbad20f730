/** Document page. */
import { Empty, ResponseView } from "../../components/states.tsx";
import { DocsFrame } from "./docs-frame.tsx";
import { DocumentView } from "./document-view.tsx";
import { type Document, documentFile } from "./tree.ts";
import { useFile } from "./use-file.ts";

/** @param path path after `/console/docs/` */
export function Documents({ path }: { path: string }) {
  const document = useFile<Document>(`/console/${documentFile(path)}`);
  const isMissing =
    document.error instanceof Error && "code" in document.error && document.error.code === "API_NOT_FOUND";
  return (
    <DocsFrame path={path} title={document.value?.title ?? "Documentation"}>
      {isMissing ? (
        <Empty title="Document not found">
          This version has no document at this address. <a href="/console/docs">To the documentation</a>
        </Empty>
      ) : (
        <ResponseView response={document} what="The document" lines={12}>
          {({ blocks }) => <DocumentView key={path} blocks={blocks} />}
        </ResponseView>
      )}
    </DocsFrame>
  );
}
