/** Recorded responses, served over a mirror in PostgreSQL: one of each form of a request that reads rows. */
import { describe } from "vitest";
import type { Case } from "../../../test-support/parity/case.ts";
import { openMirrorInOwnServer } from "../../../test-support/parity/read-models.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { testParity } from "./suite.ts";

/** Method, path and names of parameters: the read model gets the same reads for other ids and values. Orders are columns. */
const formOf = ({ request: { method, path, body } }: Case): string => {
  const route = path.replace("/v2/", "/").replace(/(?<=\/)\w*\d\w*(?=[/?]|$)/g, "{id}");
  const names = route.replace(/\b(?!orderBy=)(\w+)=[^&]*/g, "$1");
  return [method, names, ...Object.keys(body ?? {})].join(" ");
};

const forms = new Set<string>();

/** A request that is refused reads nothing, so that SQLite shows it as well. */
function isNew(one: Case): boolean {
  const { size } = forms;
  if (one.expect.status === 200) forms.add(formOf(one));
  return forms.size > size;
}

describe.skipIf(!hasPostgres)("PostgreSQL", () => testParity(openMirrorInOwnServer, isNew));
