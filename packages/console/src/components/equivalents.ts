/** Commands and code that do the same as an action of a page. */

/** Quotes a text as one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Builds a curl command with the webhook token as `$TOKEN`. */
export function curlOf(method: string, url: string, body?: object): string {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  if (body === undefined) return `curl${verb} -H "Authorization: $TOKEN" ${quoted(url)}`;
  return `curl${verb} -H "Authorization: $TOKEN" -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify(body))} ${quoted(url)}`;
}

/** Builds a program around one statement that uses `client`. */
export const programOf = (statement: string, origin: string): string =>
  `import { createClient } from "@uniknode/client";

const client = createClient({ url: ${JSON.stringify(origin)}, webhookToken: process.env.TOKEN });
${statement}
`;
