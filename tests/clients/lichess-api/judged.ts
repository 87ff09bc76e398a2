// What the practice server's answers are compared with: named types, and the answers of endpoints whose types have no name.
import type { Schemas, paths } from "./api";

type Answer<P extends keyof paths, M extends keyof paths[P], S extends number> =
  paths[P][M] extends { responses: { [status in S]: { content: { "application/json": infer A } } } } ? A : never;

export interface Judged {
  schemas: Schemas;
  answers: {
    "get /api/users/status 200": Answer<"/api/users/status", "get", 200>;
    "get /api/challenge 200": Answer<"/api/challenge", "get", 200>;
    "get /api/account/playing 200": Answer<"/api/account/playing", "get", 200>;
    "get /api/account/preferences 200": Answer<"/api/account/preferences", "get", 200>;
    "post /api/challenge/ai 201": Answer<"/api/challenge/ai", "post", 201>;
    "post /api/token/test 200": Answer<"/api/token/test", "post", 200>;
  };
}
