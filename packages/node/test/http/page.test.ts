/** The page that renders the document. */

import { afterAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

test("The page loads everything from this server, and forbids everything else.", async () => {
  const page = await fixture.get("/documentation");
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self';/);
  const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
  expect(parts.length).toBeGreaterThan(4);
  for (const path of [...parts, "/documentation/json"]) {
    expect(path).toMatch(/^\/documentation\//);
    const part = await fixture.get(path);
    expect(part.statusCode, path).toBe(200);
    expect(part.body.length, path).toBeGreaterThan(100);
  }
});

test("The page is as wide as a phone, and labels its controls.", async () => {
  const page = await fixture.get("/documentation");
  const [, path] = /src="([^"]+\/uniknode\.js)"/.exec(page.body) ?? [];
  const script = (await fixture.get(present(path, "the path of the script"))).body;
  expect(script).toContain("width=device-width");
  expect(script).toContain("aria-label");
});

test("The page renders the document that the API serves.", async () => {
  const shown = await fixture.get("/documentation/json");
  expect(shown.json()).toEqual((await fixture.get("/api/openapi.json")).json());
});
