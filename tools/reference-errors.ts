/** The page of error codes. */
import { ERROR_CHAPTERS } from "../packages/node/src/http/server/error-codes.ts";

const INTRODUCTION = `# Errors

Every error of the HTTP API has a code. Programs decide by the code; the message is for people and may change.

\`\`\`
{"statusCode": 404, "error": "Not Found", "message": "webhook 7 not found: GET /api/v2/webhooks lists the webhooks", "code": "WEBHOOK_UNKNOWN"}
\`\`\`

* The header \`error-code\` has the code, on every route.
* The body has it as well, in \`code\`, on the routes that the old node did not have here: \`/api/webhooks\`, \`/api/events\`, \`/api/operations\`, \`/api/dev\`,
  \`/health\`, \`/metrics\`, each also under \`/api/v2\` where there is a prefix. The other bodies have exactly the members that the
  old node gave them, because its clients know these
  ([decision 32](../decisions/0032-error-codes-beside-recorded-answers.md)).
* 429 and 503 may succeed later; \`retry-after\` says when.

Other codes: those of the JavaScript client in [clients.md](../guides/clients.md#handle-errors), those of failed
deliveries in [webhooks.md](../guides/webhooks.md#errors), \`ERR_...\` of rejected transactions in
[pool.md](../spec/pool.md).
`;

export const errorsPage = (): string =>
  [INTRODUCTION, ...Object.entries(ERROR_CHAPTERS).flatMap(([title, codes]) => chapter(title, codes))].join(
    "\n",
  );

const chapter = (title: string, codes: (typeof ERROR_CHAPTERS)[string]): string[] => [
  `## ${title}`,
  "",
  "| code | status | what is wrong | what to do |",
  "|---|---|---|---|",
  ...Object.entries(codes).map(
    ([code, { statuses, why, next }]) => `| \`${code}\` | ${statuses.join(", ")} | ${why} | ${next} |`,
  ),
  "",
];
