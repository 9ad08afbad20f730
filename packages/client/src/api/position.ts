/**
 * Read your writes behind a load balancer: API servers name the block of each response, and each request demands the newest block
 * that a response had. Nodes neither name a block nor require one.
 */
import type { ApiRequest, Connect } from "./request.ts";

/** Code of a response when the demanded block was replaced by a reorganisation. */
const BRANCH_GONE = "BRANCH_GONE";

/** Adds the newest block of the responses to each request. */
export function withPosition(connect: Connect): Connect {
  let newest: { readonly height: number; readonly text: string } | undefined;

  function note({ headers }: Response): void {
    if (headers.get("error-code") === BRANCH_GONE) {
      newest = undefined;
      return;
    }
    const [height, id] = [headers.get("x-uniknode-height"), headers.get("x-uniknode-block")];
    if (height === null || id === null || Number(height) < (newest?.height ?? 0)) return;
    newest = { height: Number(height), text: `${height}:${id}` };
  }

  const demanding = (request: ApiRequest): ApiRequest =>
    newest === undefined
      ? request
      : { ...request, headers: { ...request.headers, "x-uniknode-at-least": newest.text } };

  return async (request, signal) => {
    const response = await connect(demanding(request), signal);
    note(response);
    return response;
  };
}

/** Returns true if the request succeeds without the block that it demanded. */
export const isBranchGone = (nodeCode: string | undefined): boolean => nodeCode === BRANCH_GONE;
