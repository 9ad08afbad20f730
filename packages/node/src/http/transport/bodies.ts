/** Reading of request bodies (http-api.md 1.4): JSON unless something else is said, and no surprises in it. */
import type { Server } from "../app.ts";
import { HttpError } from "./error.ts";

export const MAX_BODY_BYTES = 1_048_576;

const FORM = "application/x-www-form-urlencoded";
/** JSON by its own name, by a name built on it, or sent as some text. */
const JSON_TYPE = /^(application\/([\w.-]+\+)?json|text\/[\w.+-]+)$/;

export function addBodies(app: Server): void {
  // Refuses members that would reach the prototype of what is parsed.
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (request, text, done) => {
    const mediaType =
      request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "application/json";
    // An empty body is no body: whether one is needed is the business of the route's schema.
    if (text === "") return done(null, undefined);
    if (mediaType === FORM) return done(null, Object.fromEntries(new URLSearchParams(text as string)));
    if (!JSON_TYPE.test(mediaType)) return done(new HttpError(422, "Unsupported Media Type"));
    parseJson(request, text as string, (error, body) => {
      if (error) done(new HttpError(422, "Invalid request payload JSON format"));
      else done(null, body);
    });
  });
}
