// Limits the requests of a connection. A client that pipelines can send thousands of heads in one
// packet, and Node creates a request of each before anything else runs, even on a destroyed
// connection. The parser is therefore stopped: an upgrade message is treated as the last one of its
// connection.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum pending requests of a connection. Beyond it the client is disconnected. */
const MAX_PIPELINED = 16;

export interface Connections {
  /** For the same option of the HTTP server: messages that end a closing connection. */
  IncomingMessage: typeof IncomingMessage;
  /** Counts a request until its response ends. Destroys the connection beyond the limit. */
  admits(request: IncomingMessage, response: ServerResponse): boolean;
  /** No further request of this connection runs. Earlier ones get their responses. */
  close(socket: Socket): void;
}

export function createConnections(): Connections {
  const waiting = new WeakMap<Socket, number>();
  const closing = new WeakSet<Socket>();

  /** Called by Node as a constructor. */
  function message(socket: Socket): IncomingMessage {
    const request = new IncomingMessage(socket);
    if (socket.destroyed || closing.has(socket)) {
      // Node removes its listeners with the parser. An unhandled error of a connection would end
      // the process.
      socket.on('error', () => undefined);
      Object.defineProperty(request, 'upgrade', { get: () => true, set: () => undefined });
    }
    return request;
  }

  return {
    // Node's types require a class. A function that returns an object works with `new` as well.
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
