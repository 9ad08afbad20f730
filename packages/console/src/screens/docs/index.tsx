/** Documentation: guides, reference, specification and API of this version. */

import { useRoute } from "preact-iso/router";
import { loadable } from "../../components/loadable.tsx";
import { Documents } from "./documents.tsx";

const ApiPage = loadable(() => import("./api/index.tsx"));

export default function Documentation() {
  const path = useRoute().params.rest ?? "";
  const [first, id] = path.split("/");
  return first === "api" ? <ApiPage id={id} /> : <Documents path={path} />;
}
