// HTTP/1.1 written byte by byte to sockets and its replies, without a client library that would correct or
// reject invalid requests.
import net from 'node:net';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
  ms: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

interface ParsedReply {
  reply: Omit<Reply, 'ms'>;
  remainingBytes: Buffer;
}

/** The content of a chunked body and the bytes after it, or undefined if it is incomplete. */
function readChunks(bytes: Buffer): { body: Buffer; remainingBytes: Buffer } | undefined {
  const parts: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', offset);
    if (end < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', offset, end), 16);
    const nextOffset = end + 2 + size + 2;
    if (bytes.length < nextOffset) return undefined;
    if (size === 0)
      return { body: Buffer.concat(parts), remainingBytes: bytes.subarray(nextOffset) };
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    offset = nextOffset;
  }
}

/** The first reply in the bytes, or undefined if it is incomplete. Interim replies are skipped. */
function readReply(bytes: Buffer): ParsedReply | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [line = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(line.split(' ')[1]);
  const bodyBytes = bytes.subarray(end + HEAD_END.length);
  if (status === 100) return readReply(bodyBytes);
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  if (status === 204 || status === 304)
    return { reply: { status, headers, body: '' }, remainingBytes: bodyBytes };
  if (headers['transfer-encoding'] === 'chunked') {
    // A stream is complete with its head.
    if (headers['content-type']?.startsWith('text/event-stream')) {
      return { reply: { status, headers, body: '' }, remainingBytes: Buffer.alloc(0) };
    }
    const chunks = readChunks(bodyBytes);
    return (
      chunks && {
        reply: { status, headers, body: chunks.body.toString() },
        remainingBytes: chunks.remainingBytes,
      }
    );
  }
  const length = Number(headers['content-length'] ?? 0);
  if (bodyBytes.length < length) return undefined;
  const body = bodyBytes.toString('utf8', 0, length);
  return { reply: { status, headers, body }, remainingBytes: bodyBytes.subarray(length) };
}

/** All complete replies in the bytes. */
export function readReplies(bytes: Buffer): Omit<Reply, 'ms'>[] {
  const replies = [];
  for (
    let parsedReply = readReply(bytes);
    parsedReply;
    parsedReply = readReply(parsedReply.remainingBytes)
  ) {
    replies.push(parsedReply.reply);
    if (parsedReply.remainingBytes.length === 0) break;
  }
  return replies;
}

export interface Exchange {
  /** All bytes that the server sent. */
  bytes: Buffer;
  /** Whether the server closed the connection. */
  isClosed: boolean;
}

/** Sends bytes on a new connection. Resolves when it is closed, or receives nothing for `waitMs`. */
export function sendBytes(port: number, bytes: Buffer, waitMs: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const receivedBytes: Buffer[] = [];
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ bytes: Buffer.concat(receivedBytes), isClosed });
    };
    let timer = setTimeout(() => finish(false), waitMs);
    socket.on('data', (chunk) => {
      receivedBytes.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), waitMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => finish(true));
  });
}

export interface Connection {
  /** The reply, or the reason why there is none. */
  send(bytes: Buffer): Promise<Reply | 'closed' | 'no reply'>;
  close(): void;
}

const REPLY_TIMEOUT_MS = 120_000;

/** A connection that is kept for further requests and opened again when the server has closed it. */
export function openConnection(port: number): Connection {
  let socket: net.Socket | undefined;

  const exchange = (bytes: Buffer, usedSocket: net.Socket) =>
    new Promise<Reply | 'closed' | 'no reply'>((resolve) => {
      const startedAt = performance.now();
      let receivedBytes: Buffer = Buffer.alloc(0);
      const finish = (result: Reply | 'closed' | 'no reply') => {
        clearTimeout(timer);
        usedSocket.removeListener('data', read);
        usedSocket.removeListener('close', finishClosed);
        resolve(result);
      };
      const read = (chunk: Buffer) => {
        receivedBytes = receivedBytes.length ? Buffer.concat([receivedBytes, chunk]) : chunk;
        const parsedReply = readReply(receivedBytes);
        if (!parsedReply) return;
        const { headers } = parsedReply.reply;
        const isClosing = headers.connection === 'close';
        if (isClosing || headers['content-type']?.startsWith('text/event-stream'))
          usedSocket.destroy();
        finish({ ...parsedReply.reply, ms: performance.now() - startedAt });
      };
      const finishClosed = () => finish('closed');
      const timer = setTimeout(() => finish('no reply'), REPLY_TIMEOUT_MS);
      usedSocket.on('data', read);
      usedSocket.once('close', finishClosed);
      usedSocket.write(bytes);
    });

  function connect(): { socket: net.Socket; isNew: boolean } {
    if (socket && !socket.destroyed && socket.writable) return { socket, isNew: false };
    socket = net.connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    return { socket, isNew: true };
  }

  async function sendNow(bytes: Buffer): Promise<Reply | 'closed' | 'no reply'> {
    const firstConnection = connect();
    const result = await exchange(bytes, firstConnection.socket);
    if (result !== 'closed' || firstConnection.isNew) return result;
    // The server had closed an idle connection.
    return exchange(bytes, connect().socket);
  }

  /** The completion of the latest request. Requests of one connection are sent one after another. */
  let lastRequest: Promise<unknown> = Promise.resolve();

  return {
    send(bytes) {
      const result = lastRequest.then(() => sendNow(bytes));
      lastRequest = result;
      return result;
    },
    close: () => void socket?.destroy(),
  };
}
