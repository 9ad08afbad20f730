/** The methods that a path has, for requests with another one. */
import type { FastifyRequest } from "fastify";
import type { Server } from "../core/app.ts";

/** The methods of the routes that match the path of a URL, in alphabetical order; empty for an unknown path. */
export type MethodsOf = (url: string) => readonly string[];

/** To be called before routes are added. */
export function addMethods(app: Server): MethodsOf {
  const routes = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();

  app.addHook("onRoute", ({ url, method }) => {
    // What matches any name says nothing of a path.
    if (/[(*]/.test(url)) return;
    const known = routes.get(url) ?? { path: patternOf(url), methods: new Set() };
    routes.set(url, known);
    for (const name of [method].flat()) known.methods.add(name);
  });

  return (url) => {
    const path = url.split("?", 1)[0]!;
    const methods = [...routes.values()].flatMap((route) =>
      route.path.test(path) ? [...route.methods] : [],
    );
    return [...new Set(methods)].sort();
  };
}

/** `/webhooks/:id`: a parameter is a segment that is not empty. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(".", "\\.").replace(/:[^/]+/g, "[^/]+")}$`);

/** What is wrong with a request that no route takes: its path, or only its method. */
export const isOtherMethod = ({ method }: FastifyRequest, methods: readonly string[]): boolean =>
  methods.length > 0 && !methods.includes(method);
