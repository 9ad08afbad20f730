/** Guides, reference and specification of this version, and its API. */
import lazy from "preact-iso/lazy";
import { useRoute } from "preact-iso/router";
import { Documents } from "./documents.tsx";

const ApiPage = lazy(() => import("./api/index.tsx"));

export default function Documentation() {
  const path = useRoute().params.rest ?? "";
  const [first, id] = path.split("/");
  return first === "api" ? <ApiPage id={id} /> : <Documents path={path} />;
}
