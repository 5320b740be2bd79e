// Which connections take one more request. A client that pipelines sends thousands of heads in one packet,
// and Node makes a request of each before anything else runs, also on a connection that is destroyed. The
// parser is therefore stopped: it takes a message that is an upgrade for the last one of its connection.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that wait for answers; a client that pipelines more is disconnected. */
const MAX_PIPELINED = 16;

export interface Connections {
  /** For the option of the same name of the HTTP server: messages that end a connection that is closing. */
  IncomingMessage: typeof IncomingMessage;
  /** Counts a request until its answer is sent or cut off; destroys the connection of one too many. */
  admits(request: IncomingMessage, response: ServerResponse): boolean;
  /** No further request of this connection is carried out; the answers to earlier ones are sent. */
  close(socket: Socket): void;
}

export function createConnections(): Connections {
  const waiting = new WeakMap<Socket, number>();
  const closing = new WeakSet<Socket>();

  /** Called by Node as a constructor. */
  function message(socket: Socket): IncomingMessage {
    const request = new IncomingMessage(socket);
    if (socket.destroyed || closing.has(socket)) {
      // Node removes its listeners with the parser; an error of a connection without one ends the process.
      socket.on('error', () => undefined);
      Object.defineProperty(request, 'upgrade', { get: () => true, set: () => undefined });
    }
    return request;
  }

  return {
    // Node's types want a class; a function that `new` calls and that returns an object is one.
    IncomingMessage: message as unknown as typeof IncomingMessage,
    admits({ socket }, response) {
      const count = (waiting.get(socket) ?? 0) + 1;
      if (socket.destroyed || count > MAX_PIPELINED) {
        socket.destroy();
        return false;
      }
      waiting.set(socket, count);
      response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
      return true;
    },
    close: (socket) => void closing.add(socket),
  };
}
