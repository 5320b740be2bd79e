// Row 17: processor time of executing a quote while a server sends traces of 1 % of its requests to a
// collector. The time is divided by the time of the same server without traces. Both servers run
// alternately on one database.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { DATABASE } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { startWorker } from '../machine/children.ts';
import { familyOf } from '../machine/proc.ts';
import { printProgress, type Row, type Side } from '../table/row.ts';
import { countExecuted, differences, executor } from './execute-row.ts';
import { restartServer, WARM_UP_QUOTES } from './load-rows.ts';

const CONNECTIONS = 256;
/** More than for other rows, because the difference is smaller than the variation between runs. */
const TURNS = 10;
const TURN_S = 4;
const LONG_S = 60;

/** Starts a collector that accepts and counts all spans. */
async function startCollector() {
  let spanCount = 0;
  const server = http.createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      spanCount += text.split('"spanId"').length - 1;
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => spanCount,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const sideOf = (name: string, values: number[], errors: number): Side => ({
  ...{ name, values, errors },
  ...{ p50: [], p99: [] },
});

export async function traceRows(bench: Bench): Promise<Row[]> {
  const collector = await startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0.01' };
  const tracedServer = await restartServer(bench, [], env);
  const untracedServer = await restartServer(bench);
  const load = startWorker('load');
  const groups = {
    traced: () => familyOf(tracedServer.process.pid),
    plain: () => familyOf(untracedServer.process.pid),
  };
  const server = executor({ bench, api: untracedServer, load, groups }, DATABASE);
  const executedBefore = await countExecuted(bench, DATABASE);
  const us = { traced: [] as number[], plain: [] as number[] };
  const turns = bench.quick ? 2 : TURNS;
  for (let turn = 0; turn < turns; turn++) {
    const order = turn % 2 ? (['traced', 'plain'] as const) : (['plain', 'traced'] as const);
    for (const name of order) {
      const { port } = name === 'traced' ? tracedServer : untracedServer;
      // The first quotes are not measured, because rows that the other server changed are read
      // again, and an idle server has released memory.
      await server.run('convert', port, CONNECTIONS, LONG_S, { count: WARM_UP_QUOTES });
      await server.run('convert', port, CONNECTIONS, TURN_S);
      us[name].push(server.usPerRequest(name));
    }
    const [tracedUs, plainUs] = [us.traced.at(-1), us.plain.at(-1)].map((value) =>
      value?.toFixed(0),
    );
    printProgress(`turn ${turn + 1}: ${tracedUs} µs with traces, ${plainUs} µs without`);
  }
  for (const child of [load, tracedServer.process, untracedServer.process]) await child.stop();
  collector.stop();
  const errors = await differences(bench, DATABASE, executedBefore + server.done());
  if (collector.spans() === 0) throw new Error('the collector received no spans');
  return [
    {
      id: '17',
      label: 'Node time per execution with traces of 1 %',
      unit: 'µs',
      railhead: sideOf('server with a collector', us.traced, errors),
      peer: sideOf('the same without', us.plain, 0),
      slowdown: { maximum: 1.03 },
      remark: `${collector.spans()} spans`,
    },
  ];
}
