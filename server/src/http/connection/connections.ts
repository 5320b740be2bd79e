// Limits the requests of a connection. A client can send thousands of heads in one packet. Node creates a
// request for each head before other code runs, even on a destroyed connection. The parser is therefore
// stopped with an upgrade message, which Node treats as the last message of a connection.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum pending requests of a connection. Beyond it the client is disconnected. */
const MAX_PIPELINED = 16;

export interface Connections {
  /** Value of the same option of the HTTP server. Its messages end a closing connection. */
  IncomingMessage: typeof IncomingMessage;
  /** Counts a request until its response ends. Destroys the connection beyond the limit. */
  accept(request: IncomingMessage, response: ServerResponse): boolean;
  /**
   * Stops the connection after its earlier requests. Their responses are sent, and no further request runs.
   */
  close(socket: Socket): void;
}

export function createConnections(): Connections {
  const pendingCounts = new WeakMap<Socket, number>();
  const closingSockets = new WeakSet<Socket>();

  /** Called by Node as a constructor. */
  function message(socket: Socket): IncomingMessage {
    const request = new IncomingMessage(socket);
    if (socket.destroyed || closingSockets.has(socket)) {
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
    accept({ socket }, response) {
      const count = (pendingCounts.get(socket) ?? 0) + 1;
      if (socket.destroyed || count > MAX_PIPELINED) {
        socket.destroy();
        return false;
      }
      pendingCounts.set(socket, count);
      response.once('close', () => pendingCounts.set(socket, (pendingCounts.get(socket) ?? 1) - 1));
      return true;
    },
    close: (socket) => void closingSockets.add(socket),
  };
}
