// The only door to the clock, to chance and to the network. `main` builds the real one; tests and the
// simulator build one whose time stands still until told to move. Nothing else in the server may read
// a clock, draw random bytes or open a connection to a stranger, which is what makes a run repeatable.

/** Milliseconds since the epoch. */
export type Time = number;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** The whole exchange, connection included. */
  timeoutMs: number;
  /** Answers longer than this are cut off. Bytes. */
  maxBytes: number;
  /** Refuse anything but https to a public address, judged after the name is resolved. */
  publicOnly: boolean;
}

export interface HttpReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface World {
  now(): Time;
  random(bytes: number): Uint8Array;
  /** One exchange, no redirects followed. Rejects when no answer came. */
  http(request: HttpRequest): Promise<HttpReply>;
}

/** A time as the API writes it. */
export const iso = (time: Time): string => new Date(time).toISOString();
