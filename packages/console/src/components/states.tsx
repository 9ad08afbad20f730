/** Placeholders: empty, sign-in required, loading and failed. */
import { ApiError } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { useNode } from "../data/node.ts";
import type { CachedResponse } from "../data/response-cache.ts";
import { Icon } from "./icon.tsx";

/** @param children possible actions of the user */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Shown instead of content that requires a sign-in. */
export const SignInNeeded = ({ title }: { title: string }) => (
  <Empty title={title}>
    <a class="button" href="/console/sign-in">
      Sign in
    </a>
  </Empty>
);

/** Skeleton lines, shown after a short delay. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="bone" />
      ))}
    </div>
  );
}

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  API_UNREACHABLE: "The node does not respond. The page retries automatically.",
  API_TIMEOUT: "The node did not respond in time. It may be busy.",
  API_RATE_LIMITED: "Too many requests from this address. The page continues in a moment.",
  API_UNAUTHORIZED: "You need to sign in.",
  API_NOT_FOUND: "The node does not have it. It may have been removed.",
  API_REFUSED: "The node rejected this request. Check the filters and the address of the page.",
  API_FAILED: "The node reported an error.",
};

export type FailureProps = {
  readonly error: unknown;
  /** Name of the missing content, such as `The block`. */
  readonly what?: string;
  readonly onRetry?: () => void;
};

export function Failure({ error, what = "This", onRetry }: FailureProps) {
  const { code, message, isRetryable } =
    error instanceof Error ? (error as ApiError) : (new Error(String(error)) as ApiError);
  const isUnknown = code === "API_NOT_FOUND";
  // A malformed id stays malformed.
  const isFinal = isUnknown || isRetryable === false;
  return (
    <div class="state failure" role="alert">
      <p class="state-title">
        <Icon name="warning" /> {what} {isUnknown ? "does not exist" : "cannot be shown"}
      </p>
      <p>{WHAT_TO_DO[code] ?? "An error occurred in the page."}</p>
      {!isUnknown && <p class="quiet">{message}</p>}
      {code === "API_UNAUTHORIZED" && (
        <p>
          <a class="button" href="/console/sign-in">
            Sign in
          </a>
        </p>
      )}
      {onRetry && !isFinal && (
        <p>
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

export type ResponseViewProps<Value> = {
  readonly response: CachedResponse<Value>;
  readonly what?: string;
  /** Number of skeleton lines while the content is loading. */
  readonly lines?: number;
  readonly children: (value: Value) => ComponentChildren;
};

/** Shows the content of a response, or the failure. A previous response stays visible while a newer one is loading. */
export function ResponseView<Value>({ response, what, lines, children }: ResponseViewProps<Value>) {
  const { responses, poll } = useNode();
  const retry = () => {
    poll();
    responses.refresh("");
  };
  const { value, error } = response;
  const isGone = error instanceof ApiError && error.code === "API_NOT_FOUND";
  if (value !== undefined && !isGone) return <>{children(value)}</>;
  if (error !== undefined) return <Failure error={error} {...(what && { what })} onRetry={retry} />;
  return <Loading {...(lines && { lines })} />;
}
