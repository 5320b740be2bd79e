// Load from hostile clients: connections that post one large JSON body after the other, each as
// soon as the previous response is complete. Connections are reused if the server keeps them and
// replaced immediately if it closes them. A response may arrive while the body is still being sent.
// A request counts as unanswered if its connection ends before the response is complete.
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { addChunk, newReading } from '../machine/reading.ts';

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
  responses: Record<string, number>;
  /** Requests without a complete response, by cause: an error code, `closed` or `timeout`. */
  unansweredCounts: Record<string, number>;
  /** Failed connection attempts, by cause: an error code or `timeout`. */
  connectionErrors: Record<string, number>;
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
/** Delay between connection attempts to a closed port. */
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

interface AttackState {
  attack: Attack;
  bytes: Buffer;
  report: AttackReport;
  isOver(): boolean;
}

/** Sends requests on one connection until the connection or the attack ends. */
function useConnection({ attack, bytes, report, isOver }: AttackState): Promise<void> {
  return new Promise((resolve) => {
    let reading = newReading();
    let [isConnected, isAwaitingResponse, isSent] = [false, false, false];
    let cause = 'closed';
    const begin = () => {
      if (isOver()) return void socket.destroy();
      reading = newReading();
      [isAwaitingResponse, isSent] = [true, false];
      // A write error is also emitted by the socket, where it is counted.
      socket.write(bytes, (error) => {
        if (error) return;
        isSent = true;
        if (!isAwaitingResponse) begin();
      });
    };
    const finish = () => {
      isAwaitingResponse = false;
      count(report.responses, reading.status);
    };
    const continueAfterResponse = () => {
      if (/\r\nconnection: *close/i.test(reading.receivedHead)) socket.destroy();
      // The remaining body must be sent before the next request.
      else if (isSent) begin();
      else if (isOver()) socket.destroy();
    };
    const onData = (length: number, buffer: Uint8Array) => {
      if (!isAwaitingResponse || !addChunk(reading, (buffer as Buffer).subarray(0, length)))
        return true;
      finish();
      continueAfterResponse();
      return true;
    };
    const socket = net.connect({
      port: attack.port,
      host: '127.0.0.1',
      noDelay: true,
      // The server may end its side first. Buffered data is then still read, and writes do not
      // fail.
      allowHalfOpen: true,
      onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback: onData },
    });
    socket.setTimeout(TIMEOUT_MS, () => {
      cause = 'timeout';
      socket.destroy();
    });
    socket.on('connect', () => {
      isConnected = true;
      report.connections++;
      begin();
    });
    socket.on('end', () => {
      // Without a content length, the end of the connection is the end of the response.
      const isComplete = reading.total < 0 && /\r\n\r\n/.test(reading.receivedHead);
      if (isAwaitingResponse && isComplete && !/\r\ntransfer-encoding:/i.test(reading.receivedHead))
        finish();
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      cause = error.code ?? error.message;
    });
    socket.on('close', () => {
      if (isAwaitingResponse) count(report.unansweredCounts, cause);
      if (isConnected) return resolve();
      count(report.connectionErrors, cause);
      void sleep(RECONNECT_MS).then(resolve);
    });
  });
}

export const emptyReport = (bodyBytes = 0): AttackReport => ({
  responses: {},
  unansweredCounts: {},
  connectionErrors: {},
  connections: 0,
  bodyBytes,
});

export function startAttack(attack: Attack): RunningAttack {
  const { bytes, body } = requestOf(attack);
  const report = emptyReport(body);
  let hasEnded = false;
  const state: AttackState = { attack, bytes, report, isOver: () => hasEnded };
  const client = async () => {
    while (!hasEnded) await useConnection(state);
  };
  const clients = Promise.all(Array.from({ length: attack.connections }, client));
  return {
    async stop() {
      hasEnded = true;
      await clients;
      return report;
    },
  };
}
