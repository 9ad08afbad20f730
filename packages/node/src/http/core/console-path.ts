/**
 * Returns whether a URL leads below `/console`, in any spelling that the router, a proxy or a browser may interpret that way:
 * percent-encoded, with repeated slashes, backslashes or dot segments, in other letter case, or as a whole address.
 */
export function isConsolePath(url: string): boolean {
  // Almost every URL: it has no characters that allow another spelling.
  if (PLAIN_API.test(url)) return false;
  const [path = ""] = url.replace(ORIGIN, "").split(/[?#]/, 1);
  const decoded = decode(path);
  return [path, decoded].some((spelling) => firstSegments(spelling).includes("console"));
}

const PLAIN_API = /^\/api\/[\w/-]*(?:\?|$)/;
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
/** Maximum number of decodings: each layer in front of the router may decode once. */
const MAX_DECODINGS = 3;

function decode(path: string): string {
  let text = path;
  for (let round = 0; round < MAX_DECODINGS && text.includes("%"); round += 1) {
    text = text.replace(/%([\da-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  }
  return text;
}

/** Returns the first segment as written, and the first after resolving dot segments. */
function firstSegments(path: string): (string | undefined)[] {
  const segments = path
    .toLowerCase()
    .split(/[/\\]+/)
    .map((segment) => segment.replace(/;.*$/s, "").trim())
    .filter((segment) => segment !== "" && segment !== ".");
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === "..") resolved.pop();
    else resolved.push(segment);
  }
  return [segments[0], resolved[0]];
}
