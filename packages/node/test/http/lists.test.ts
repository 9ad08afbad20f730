/** The document offers exactly the filters of `read/lists.ts`: a route adds none itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LISTS } from "../../src/read/lists.ts";
import { type Document, documentOf, type Operation } from "../../test-support/http/described.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
let document: Document;
beforeAll(async () => {
  await fixture.app.ready();
  document = await documentOf(fixture.app);
});
afterAll(() => fixture.close());

const EVERYWHERE = ["page", "limit", "offset", "cursor", "transform", "orderBy", "at"];
const withoutShared = (names: readonly string[]) => names.filter((name) => !EVERYWHERE.includes(name)).sort();

/** Names of the filters of a definition, as parameters or as members of the search. */
function filtersAt(path: string): string[] {
  const isSame = (known: string | undefined) => known === path.replace(/^\/nfts/, "/uniks");
  const listed = LISTS.find((list) => isSame(list.path));
  const searched = LISTS.find((list) => isSame(list.searchPath));
  const definitions = Object.entries((listed ?? searched)?.filters ?? {});
  return definitions.flatMap(([name, { query, search }]) => ((listed ? query : search) ? [name] : [])).sort();
}

const parametersOf = ({ parameters = [] }: Operation) =>
  parameters.flatMap(({ in: part, name }) => (part === "query" ? [name] : []));

test("Every list has the parameters of its definition.", () => {
  const lists = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && parametersOf(get).includes("limit") ? [{ path, names: withoutShared(parametersOf(get)) }] : [],
  );
  expect(lists.length).toBeGreaterThan(LISTS.length);
  for (const { path, names } of lists) expect(names, path).toEqual(filtersAt(path));
});

test("Every search has the members of its definition.", () => {
  const searches = Object.entries(document.paths).flatMap(([path, { post }]) => {
    const members = post?.requestBody?.content["application/json"].schema.properties ?? {};
    return path.endsWith("/search") ? [{ path, names: withoutShared(Object.keys(members)) }] : [];
  });
  expect(searches.length).toBeGreaterThan(7);
  for (const { path, names } of searches) expect(names, path).toEqual(filtersAt(path));
});
