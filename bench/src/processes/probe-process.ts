// A client with one connection that sends several requests one after the other and measures the latency of
// each. An operator reads one page at a time, so latency is the measured value.
import http from 'node:http';
import { serveJobs } from '../machine/worker-channel.ts';
import { createTally, type Run } from '../table/stats.ts';

export interface Probe {
  name: string;
  path: string;
  /** JSON of a POST. Absent for a GET. */
  body?: string | undefined;
  /** Credential of this request. Default: the credential of the run. */
  authorization?: string | undefined;
  /** Expected status code. 200 by default. */
  status?: number;
}

export interface ProbeOptions {
  port: number;
  authorization: string;
  probes: readonly Probe[];
  warmupMs: number;
  seconds: number;
}

export interface ProbeRun extends Run {
  /** Result of each probe, by its name. */
  byProbe: Record<string, Run>;
}

function send(agent: http.Agent, options: ProbeOptions, probe: Probe): Promise<void> {
  const { path, body, authorization = options.authorization, status = 200 } = probe;
  const { port } = options;
  const length = Buffer.byteLength(body ?? '');
  const type = { 'content-type': 'application/json', 'content-length': length };
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        ...{ host: '127.0.0.1', port, path, agent, method: body === undefined ? 'GET' : 'POST' },
        headers: { authorization, ...(body === undefined ? {} : type) },
      },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8');
        reply.on('data', (chunk: string) => {
          text += chunk;
        });
        reply.on('error', reject);
        reply.on('end', () => {
          if (reply.statusCode === status) resolve();
          else reject(new Error(`${path}: ${reply.statusCode} ${text.slice(0, 500)}`));
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

async function probe(options: ProbeOptions): Promise<ProbeRun> {
  const { probes, warmupMs, seconds } = options;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const tally = createTally(warmupMs, seconds);
  const tallies = probes.map((probe) => [probe, createTally(warmupMs, seconds)] as const);
  while (tally.isRunning()) {
    for (const [probe, probeTally] of tallies) {
      const startMs = performance.now();
      try {
        await send(agent, options, probe);
        tally.ok(startMs);
        probeTally.ok(startMs);
      } catch (error) {
        tally.error(String(error));
      }
    }
  }
  agent.destroy();
  const byProbe = Object.fromEntries(
    tallies.map(([{ name }, probeTally]) => [name, probeTally.result()]),
  );
  return { ...tally.result(), byProbe };
}

serveJobs({ probe });
