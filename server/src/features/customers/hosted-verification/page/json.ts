// A JSON object, as requests and replies have it.
export type Json = Record<string, unknown>;
