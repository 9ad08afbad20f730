/** API of this node: all operations, or one of them with a form to try it. */
import { Empty, ResponseView } from "../../../components/states.tsx";
import { DocsFrame } from "../docs-frame.tsx";
import { useFile } from "../use-file.ts";
import { apiOf, type OpenApi } from "./openapi.ts";
import { OperationPage } from "./operation-page.tsx";
import { Operations } from "./operations.tsx";

const DOCUMENT = "/api/openapi.json";

/** @param id operation id; all operations if absent */
export default function ApiPage({ id }: { id?: string | undefined }) {
  const document = useFile<OpenApi>(DOCUMENT);
  const api = document.value && apiOf(document.value);
  const operation = api?.groups.flatMap(({ operations }) => operations).find((known) => known.id === id);
  return (
    <DocsFrame path="api" title={operation ? `${operation.method} ${operation.path}` : "The API"}>
      <div class="docs-wide">
        <ResponseView response={document} what="The API" lines={12}>
          {() =>
            api && operation ? (
              <OperationPage key={operation.id} operation={operation} schemas={api.schemas} />
            ) : api && id === undefined ? (
              <Operations groups={api.groups} />
            ) : (
              <Empty title="Operation not found">
                <a href="/console/docs/api">All operations</a>
              </Empty>
            )
          }
        </ResponseView>
      </div>
    </DocsFrame>
  );
}
