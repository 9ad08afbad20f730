/** Generates the page of error codes. */
import { ERROR_CHAPTERS } from "../packages/node/src/http/core/error-codes.ts";

const INTRODUCTION = `# Errors

Every error of the HTTP API has a code. Programs must use the code; the message is for people and can change.

\`\`\`
{"statusCode": 404, "error": "Not Found", "message": "webhook 7 not found: GET /api/v2/webhooks lists the webhooks", "code": "WEBHOOK_UNKNOWN"}
\`\`\`

* The header \`error-code\` contains the code on every route.
* The body also contains it, in \`code\`, on routes that the old node did not have: \`/api/webhooks\`, \`/api/events\`, \`/api/operations\`, \`/api/dev\`,
  \`/api/facts\`, \`/api/openapi.json\`, \`/health\`, \`/metrics\`, \`/documentation\`, \`/console\`; routes under \`/api\` also exist under \`/api/v2\`. For compatibility with its clients, all other bodies have exactly the
  members of the old node
  ([decision 32](../decisions/0032-error-codes-compatible-with-recorded-responses.md)).
* Retry requests that failed with 429 or 503 after the time in \`retry-after\`.

For other codes, see [clients.md](../guides/clients.md#handle-errors) (JavaScript client),
[webhooks.md](../guides/webhooks.md#errors) (failed deliveries) and [pool.md](../spec/pool.md) (\`ERR_...\` of rejected
transactions).
`;

export const errorsPage = (): string =>
  [INTRODUCTION, ...Object.entries(ERROR_CHAPTERS).flatMap(([title, codes]) => chapter(title, codes))].join(
    "\n",
  );

const chapter = (title: string, codes: (typeof ERROR_CHAPTERS)[string]): string[] => [
  `## ${title}`,
  "",
  "| code | status | reason | what to do |",
  "|---|---|---|---|",
  ...Object.entries(codes).map(
    ([code, { statuses, why, next }]) => `| \`${code}\` | ${statuses.join(", ")} | ${why} | ${next} |`,
  ),
  "",
];
