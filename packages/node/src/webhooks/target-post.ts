/** Sends deliveries to targets of every scheme. */
import { Names } from "./connections/names.ts";
import { HttpPost, type Post, type PostOptions } from "./delivery/post.ts";
import { isNatsTarget } from "./model/targets.ts";
import { NatsPost } from "./nats/post.ts";

export class TargetPost {
  readonly #http: HttpPost;
  readonly #nats: NatsPost;

  constructor(options: PostOptions) {
    const { lookup } = new Names();
    this.#http = new HttpPost(options, lookup);
    this.#nats = new NatsPost(options, lookup);
  }

  readonly post: Post = (request, signal) =>
    (isNatsTarget(request.target) ? this.#nats : this.#http).post(request, signal);

  natsConnections(): number {
    return this.#nats.connections();
  }

  async close(): Promise<void> {
    await Promise.all([this.#http.close(), this.#nats.close()]);
  }
}
