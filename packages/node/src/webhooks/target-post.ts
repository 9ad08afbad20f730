/** Sends deliveries to targets of every scheme. */
import { createPost, type Post, type PostOptions } from "./delivery/post.ts";
import { isNatsTarget } from "./model/nats-target.ts";
import { createNatsPost } from "./nats/post.ts";

export type TargetPost = {
  readonly post: Post;
  /** Returns the number of open connections to NATS servers. */
  readonly natsConnections: () => number;
  /** Ends all open connections. */
  close(): Promise<void>;
};

export function createTargetPost(options: PostOptions): TargetPost {
  const http = createPost(options);
  const nats = createNatsPost(options);
  return {
    post: (request, signal) => (isNatsTarget(request.target) ? nats : http).post(request, signal),
    natsConnections: nats.connections,
    async close() {
      await Promise.all([http.close(), nats.close()]);
    },
  };
}
