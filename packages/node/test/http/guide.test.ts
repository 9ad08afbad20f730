/** The requests that the README, the page for developers of apps and the guide of the API show. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { alice, chain, unik } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";

const fixture = openFixture({}, {}, longer);
afterAll(() => fixture.close());

const STAND_FOR: readonly [RegExp, string][] = [
  [/\bUNIK\b/, unik.alice],
  [/\bADDRESS\b/, alice.address],
  [/\bID\b/, chain.sent.vote.data.id],
];

/** Of webhooks and of the dev chain there are guides of their own. */
const commands = ["README.md", "docs/app-developers.md", "docs/guides/api.md"].flatMap((path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => /^curl .*127\.0\.0\.1:4003\/api/.test(line))
    .filter((line) => !/webhooks|Authorization|\/dev\/|\/events|\\$/.test(line)),
);

test("there are some", () => {
  expect(commands.length).toBeGreaterThan(12);
});

test.each(commands)("%s", async (command) => {
  const filled = STAND_FOR.reduce((text, [name, value]) => text.replace(name, value), command);
  const [, url] = /(\/api[^"\s]*)/.exec(filled)!;
  const [, payload] = /-d '([^']*)'/.exec(filled) ?? [];
  const answer = payload ? await fixture.post(url!, JSON.parse(payload)) : await fixture.get(url!);
  expect(answer.statusCode, answer.body).toBe(200);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
});
