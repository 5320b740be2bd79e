// The load generator: a separate process that keeps a number of connections busy with one request each,
// written directly to sockets. On two cores the client competes with the server, so a request is one
// string, and only status and length of a response are parsed. The client uses a fraction of the processor
// time of a general HTTP client. Both sides of a row use it.
import net from 'node:net';
import { addChunk, newReading } from '../machine/reading.ts';
import { serveJobs } from '../machine/worker-channel.ts';
import { createTally, type Run, type Tally } from '../table/stats.ts';

export interface Load {
  port: number;
  connections: number;
  warmupMs: number;
  seconds: number;
  method: 'GET' | 'POST';
  /** Path and query of each request, in order. Cyclic unless `isSinglePass`. */
  paths: string[];
  /** Each path is requested once. The run ends early when no path remains. */
  isSinglePass: boolean;
  authorization: string;
  /**
   * Each request starts at a fixed time, independent of earlier requests, and its latency counts
   * from that time. Absent: each connection sends its next request after a response.
   */
  perSecond?: number | undefined;
  /** Sends a new Idempotency-Key with each request. */
  hasIdempotencyKeys: boolean;
  status: number;
}

const READ_BYTES = 65_536;

function requestMaker(load: Load): () => string | undefined {
  const { paths, isSinglePass, method, authorization, hasIdempotencyKeys, port } = load;
  const requestHead =
    ` HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\n` +
    `${method === 'POST' ? 'Content-Length: 0\r\n' : ''}`;
  const runId = `${process.pid}-${Math.round(performance.timeOrigin + performance.now())}`;
  let requestCount = 0;
  return () => {
    if (isSinglePass && requestCount >= paths.length) return undefined;
    const path = paths[requestCount % paths.length];
    requestCount++;
    const key = hasIdempotencyKeys ? `Idempotency-Key: ${runId}-${requestCount}\r\n` : '';
    return `${method} ${path}${requestHead}${key}\r\n`;
  };
}

/** Start times of requests. In the past if a request is overdue. */
function schedule({ perSecond }: Load): (() => number) | undefined {
  if (perSecond === undefined) return undefined;
  let scheduledAt = performance.now();
  return () => {
    scheduledAt += 1000 / perSecond;
    return scheduledAt;
  };
}

/** Sends the requests of one connection until the run ends. All connections share `nextStart`. */
function runConnection(
  load: Load,
  tally: Tally,
  nextRequest: () => string | undefined,
  nextStart?: () => number,
): Promise<void> {
  return new Promise((resolve) => {
    let reading = newReading();
    let startMs = 0;
    let isBusy = false;
    const fail = (message: string) => {
      if (isBusy) tally.error(message);
      isBusy = false;
      socket.destroy();
      resolve();
    };
    const begin = () => {
      if (!nextStart) return send(performance.now());
      const scheduledAt = nextStart();
      const wait = scheduledAt - performance.now();
      if (wait > 0) setTimeout(() => send(scheduledAt), wait);
      else send(scheduledAt);
    };
    const send = (scheduledAt: number) => {
      const request = tally.isRunning() ? nextRequest() : undefined;
      if (request === undefined) {
        if (tally.isRunning()) tally.ranOut();
        socket.end();
        return resolve();
      }
      reading = newReading();
      isBusy = true;
      startMs = scheduledAt;
      socket.write(request, 'latin1');
    };
    const onData = (bytes: number, buffer: Uint8Array) => {
      if (!addChunk(reading, (buffer as Buffer).subarray(0, bytes))) return true;
      isBusy = false;
      if (reading.status === load.status) tally.ok(startMs);
      else tally.error(reading.receivedHead.slice(0, 2_000));
      begin();
      return true;
    };
    const socket = net.connect({
      port: load.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback: onData },
    });
    socket.on('connect', begin);
    socket.on('error', (error) => {
      isBusy = true;
      fail(error.message);
    });
    socket.on('close', () => fail('the connection was closed'));
  });
}

async function run(load: Load): Promise<Run> {
  const tally = createTally(load.warmupMs, load.seconds);
  const nextRequest = requestMaker(load);
  const nextStart = schedule(load);
  const usageBefore = process.cpuUsage();
  const startConnection = () => runConnection(load, tally, nextRequest, nextStart);
  await Promise.all(Array.from({ length: load.connections }, startConnection));
  const { user, system } = process.cpuUsage(usageBefore);
  const result = tally.result();
  return { ...result, loadUs: (user + system) / Math.max(1, result.completedCount) };
}

serveJobs({ run });
