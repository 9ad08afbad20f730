/** Sends deliveries to targets of every scheme. */
import { Names } from "./connections/names.ts";
import { createPost, type Post, type PostOptions } from "./delivery/post.ts";
import { isNatsTarget } from "./model/targets.ts";
import { createNatsPost } from "./nats/post.ts";

export type TargetPost = {
  readonly post: Post;
  /** Returns the number of open connections to NATS servers. */
  readonly natsConnections: () => number;
  /** Ends all open connections. */
  close(): Promise<void>;
};

export function createTargetPost(options: PostOptions): TargetPost {
  const { lookup } = new Names();
  const http = createPost(options, lookup);
  const nats = createNatsPost(options, lookup);
  return {
    post: (request, signal) => (isNatsTarget(request.target) ? nats : http).post(request, signal),
    natsConnections: nats.connections,
    async close() {
      await Promise.all([http.close(), nats.close()]);
    },
  };
}
