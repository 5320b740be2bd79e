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
  /** The whole exchange: name, connection and the answer's body included. */
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

/** A request whose body or answer is too much to hold at once. */
export interface StreamRequest {
  url: string;
  method: 'GET' | 'PUT' | 'DELETE';
  /** With `content-length` where there is a body. */
  headers: Record<string, string>;
  body?: AsyncIterable<Uint8Array>;
  /** How long connecting may take, and how long nothing may move in either direction. */
  timeoutMs: number;
  /** The whole exchange, the answer's body included. */
  deadlineMs: number;
}

export interface StreamReply {
  status: number;
  headers: Record<string, string>;
  /** To be read to its end, or left early, which closes the connection. */
  body: AsyncIterable<Uint8Array>;
}

export interface CallLimits {
  /** The whole conversation, connection included. */
  timeoutMs: number;
  /** Whether an error is what the other side answered, and so no failure of the other side. */
  isAnswer?(error: unknown): boolean;
}

export interface World {
  now(): Time;
  random(bytes: number): Uint8Array;
  /** One exchange, no redirects followed. Rejects when no answer came. */
  http(request: HttpRequest): Promise<HttpReply>;
  /** The same in pieces, to services of the operator's own choice. Resolves with the head of the answer. */
  stream(request: StreamRequest): Promise<StreamReply>;
  /**
   * A conversation that a library holds over sockets of its own. Rejects at the deadline, whatever the
   * library does; `signal` is aborted then, so that it closes them.
   */
  call<R>(limits: CallLimits, work: (signal: AbortSignal) => Promise<R>): Promise<R>;
}

/** A time as the API writes it. */
export const iso = (time: Time): string => new Date(time).toISOString();
