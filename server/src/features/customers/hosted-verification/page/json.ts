// A JSON object of requests and replies.
export type Json = Record<string, unknown>;
