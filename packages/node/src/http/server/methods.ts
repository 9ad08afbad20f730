/** Methods of paths, for requests with an unsupported method. */
import type { FastifyRequest } from "fastify";
import type { Server } from "../core/app.ts";

/** Returns the methods of the routes that match the path of a URL, in alphabetical order; empty for an unknown path. */
export type MethodsOf = (url: string) => readonly string[];

/** Records the methods of routes; must be called before routes are added. */
export function addMethods(app: Server): MethodsOf {
  const routes = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();

  app.addHook("onRoute", ({ url, method }) => {
    // A route that matches any name does not identify a path.
    if (/[(*]/.test(url)) return;
    const known = routes.get(url) ?? { path: patternOf(url), methods: new Set() };
    routes.set(url, known);
    for (const name of [method].flat()) known.methods.add(name);
  });

  return (url) => {
    const [path = ""] = url.split("?", 1);
    const methods = [...routes.values()].flatMap((route) =>
      route.path.test(path) ? [...route.methods] : [],
    );
    return [...new Set(methods)].sort();
  };
}

/** Converts a URL such as `/webhooks/:id` to a pattern; a parameter matches a non-empty segment. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(".", "\\.").replace(/:[^/]+/g, "[^/]+")}$`);

/** Returns whether only the method of an unmatched request is wrong, and not its path. */
export const isOtherMethod = ({ method }: FastifyRequest, methods: readonly string[]): boolean =>
  methods.length > 0 && !methods.includes(method);
