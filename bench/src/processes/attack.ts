// Load that a platform has to withstand: connections that post one large JSON body after the other,
// each as soon as the response before it is complete. A connection that the server keeps is reused,
// one that it closes is replaced at once. A response may arrive while the body is still being sent.
// A request whose connection ends before its response is complete counts as unanswered: its client
// cannot know why.
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fresh, take } from './reading.ts';

export interface Attack {
  port: number;
  connections: number;
  path: string;
  /** Absent for requests without a credential. */
  authorization?: string;
  /** Number of keys in the JSON object of the body. */
  keys: number;
}

export interface AttackReport {
  /** Complete responses by status. */
  answers: Record<string, number>;
  /** Requests without a complete response, by cause: an error code, `closed` or `timeout`. */
  unanswered: Record<string, number>;
  /** Failed connection attempts, by error code. */
  unconnected: Record<string, number>;
  /** Connections opened. */
  connections: number;
  bodyBytes: number;
}

export interface RunningAttack {
  /** Starts no further request, waits for outstanding responses and reports. */
  stop(): Promise<AttackReport>;
}

const READ_BYTES = 65_536;
const TIMEOUT_MS = 60_000;
/** Delay between connection attempts if nothing listens. */
const RECONNECT_MS = 50;

/** A JSON object with this many keys, about 11 bytes each. */
export const bodyOf = (keys: number): string =>
  JSON.stringify(
    Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, index % 10])),
  );

function requestOf({ port, path, authorization, keys }: Attack): { bytes: Buffer; body: number } {
  const body = Buffer.from(bodyOf(keys));
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `${authorization ? `Authorization: ${authorization}\r\n` : ''}` +
    `Content-Length: ${body.length}\r\n\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), body]), body: body.length };
}

const count = (counts: Record<string, number>, name: string | number) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

interface Shared {
  attack: Attack;
  bytes: Buffer;
  report: AttackReport;
  isOver(): boolean;
}

/** Sends requests on one connection until it or the attack ends. */
function useConnection({ attack, bytes, report, isOver }: Shared): Promise<void> {
  return new Promise((resolve) => {
    let reading = fresh();
    let [connected, awaiting, sent] = [false, false, false];
    let cause = 'closed';
    const begin = () => {
      if (isOver()) return void socket.destroy();
      reading = fresh();
      [awaiting, sent] = [true, false];
      // An error of this write also occurs on the socket, where it is counted.
      socket.write(bytes, (error) => {
        if (error) return;
        sent = true;
        if (!awaiting) begin();
      });
    };
    const finish = () => {
      awaiting = false;
      count(report.answers, reading.status);
    };
    const goOn = () => {
      if (/\r\nconnection: *close/i.test(reading.head)) socket.destroy();
      // The rest of the body must be sent before the next request.
      else if (sent) begin();
      else if (isOver()) socket.destroy();
    };
    const onData = (length: number, buffer: Uint8Array) => {
      if (!awaiting || !take(reading, (buffer as Buffer).subarray(0, length))) return true;
      finish();
      goOn();
      return true;
    };
    const socket = net.connect({
      port: attack.port,
      host: '127.0.0.1',
      noDelay: true,
      // The server may end its side first: buffered data is read, and no write fails because of it.
      allowHalfOpen: true,
      onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback: onData },
    });
    socket.setTimeout(TIMEOUT_MS, () => {
      cause = 'timeout';
      socket.destroy();
    });
    socket.on('connect', () => {
      connected = true;
      report.connections++;
      begin();
    });
    socket.on('end', () => {
      // Without a length the end of the connection is the end of the response.
      const isWhole = reading.total < 0 && /\r\n\r\n/.test(reading.head);
      if (awaiting && isWhole && !/\r\ntransfer-encoding:/i.test(reading.head)) finish();
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      cause = error.code ?? error.message;
    });
    socket.on('close', () => {
      if (awaiting) count(report.unanswered, cause);
      if (connected) return resolve();
      count(report.unconnected, cause);
      void sleep(RECONNECT_MS).then(resolve);
    });
  });
}

export const emptyReport = (bodyBytes = 0): AttackReport => ({
  answers: {},
  unanswered: {},
  unconnected: {},
  connections: 0,
  bodyBytes,
});

export function startAttack(attack: Attack): RunningAttack {
  const { bytes, body } = requestOf(attack);
  const report = emptyReport(body);
  let over = false;
  const shared: Shared = { attack, bytes, report, isOver: () => over };
  const client = async () => {
    while (!over) await useConnection(shared);
  };
  const clients = Promise.all(Array.from({ length: attack.connections }, client));
  return {
    async stop() {
      over = true;
      await clients;
      return report;
    },
  };
}
