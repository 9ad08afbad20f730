/** Bodies of requests (http-api.md 1.4), within their bounds. */
import { BODY_COMPLEXITY, type Complexity, exceededBound } from "../../platform/json/external.ts";
import type { Server } from "./app.ts";
import { HttpError } from "./error.ts";

export const MAX_BODY_BYTES = 1_048_576;

const FORM = "application/x-www-form-urlencoded";
/** Media types that are parsed as JSON. */
const JSON_TYPE = /^(application\/([\w.-]+\+)?json|text\/[\w.+-]+)$/;

const REFUSALS: Readonly<Record<keyof Complexity, string>> = {
  maxDepth: `The body is nested deeper than ${BODY_COMPLEXITY.maxDepth} levels`,
  maxValues: `The body has more than ${BODY_COMPLEXITY.maxValues} members and items`,
};

/**
 * Refuses the text of a JSON body that is too complex, before it is parsed.
 *
 * @throws {HttpError} 422
 */
export function checkComplexity(text: string): void {
  const exceeded = exceededBound(text, BODY_COMPLEXITY);
  if (exceeded) throw new HttpError("BODY_TOO_COMPLEX", REFUSALS[exceeded]);
}

/** Creates the error of invalid JSON; the parser's message names the fault and its position. */
export const invalidJson = ({ message }: Error): HttpError =>
  new HttpError("INVALID_JSON", `Invalid request payload JSON format: ${message.slice(0, MAX_REASON)}`);

/** Maximum length of the parser's message, which repeats a part of the body. */
const MAX_REASON = 200;

const unsupported = (mediaType: string): HttpError =>
  new HttpError(
    "UNSUPPORTED_CONTENT_TYPE",
    `Unsupported Media Type ${mediaType.slice(0, MAX_REASON)}: send the body as application/json`,
    { status: 422 },
  );

/** Parses request bodies (http-api.md 1.4): JSON by default, without members that could change a prototype. */
export function addBodies(app: Server): void {
  // Refuses members such as `__proto__`, which could change the prototype of a value.
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (request, body, done) => {
    const text = body as string;
    const mediaType =
      request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "application/json";
    // An empty body counts as absent: the schema of the route decides whether a body is required.
    if (text === "") return done(null, undefined);
    try {
      if (mediaType === FORM) return done(null, formOf(text));
      if (!JSON_TYPE.test(mediaType)) throw unsupported(mediaType);
      checkComplexity(text);
    } catch (error) {
      return done(error as HttpError);
    }
    parseJson(request, text, (error, value) => {
      if (error) done(invalidJson(faultOf(text)));
      else done(null, value);
    });
  });
}

/** Returns why a text is refused: the parser of the framework does not name the position of the fault. */
function faultOf(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    return error as Error;
  }
  return new Error('the members "__proto__" and "constructor.prototype" are not allowed');
}

/** @throws {HttpError} 422 */
function formOf(text: string): Record<string, string> {
  let members = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++members > BODY_COMPLEXITY.maxValues) throw new HttpError("BODY_TOO_COMPLEX", REFUSALS.maxValues);
  }
  return Object.fromEntries(new URLSearchParams(text));
}
