import type { NodeOverview } from "@uniknode/client";
import { useNode, useResponse } from "../../data/node.ts";

/** Fetches the overview of the node; undefined before the first response. */
export function useOverview(): NodeOverview | undefined {
  const { operations } = useNode();
  const response = useResponse("node overview", operations.operations.node, {
    lasts: "session",
    everyMs: 15_000,
  });
  return response.value?.data;
}
