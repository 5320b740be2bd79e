// The results of the model as text: the report of `npm run capacity`, and the tables of
// docs/scaling.md. A test compares the page with these tables.
import { CONNECTIONS_PER_PROCESS } from '../../../server/src/runtime/db/connections/limits.ts';
import { DEFAULTS } from './demand.ts';
import {
  type Capacity,
  capacityFor,
  DELIVERY,
  type Demand,
  type Kind,
  LIMITS,
  PAYMENTS,
  READ,
  UTILIZATION,
} from './model.ts';

const count = (value: number) => Math.round(value).toLocaleString('en');

/** An integer from 10, one decimal place below 10. */
function roundedText(value: number): string {
  if (value >= 100) return count(value);
  return value >= 10 ? value.toFixed(0) : value.toFixed(1);
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

function bytes(value: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${roundedText(value / 1_000 ** power)} ${UNITS[power]}`;
}

const duration = (days: number) =>
  days >= 2 * 365 ? `${roundedText(days / 365)} years` : `${count(days)} days`;

const LIMIT_TEXTS = {
  processors: `${LIMITS.processors} processors of PostgreSQL at ${UTILIZATION * 100} %`,
  log: `${bytes(LIMITS.logBytesPerSecond)} of the log per second`,
  'shared accounts': `batches of ${LIMITS.batch} that lock the system accounts for ${LIMITS.heldMs} ms`,
  'size of a table': 'the largest table, which reaches 32 TiB within a year',
} as const;

const plural = (value: number, singular: string, pluralForm: string) =>
  `${count(value)} ${value === 1 ? singular : pluralForm}`;

/** The capacity that a demand requires, as lines with a label and a value. */
export function reportOf(demand: Demand): string {
  const result = capacityFor(demand);
  const { kind, events, endpoints, reads, peak, retentionDays } = demand;
  const firstLimit = result.limits[0] as (typeof result.limits)[0];
  const busyOf = (processors: number) => `${roundedText(processors)} busy at the peak`;
  const lines: [string, string][] = [
    [
      'Payments',
      `${roundedText(result.meanPerSecond)}/s, ${roundedText(result.peakPerSecond)}/s at the peak`,
    ],
    [
      'Railhead',
      `${plural(result.processes, 'process', 'processes')} (${busyOf(result.nodeBusy)})`,
    ],
    [
      'PostgreSQL',
      `${count(result.databaseProcessors)} processors (${busyOf(result.postgresBusy)})`,
    ],
    ['Connections', `${count(result.connections)}, ${CONNECTIONS_PER_PROCESS} for each process`],
    ['Log', `${bytes(result.logPerSecond)}/s at the peak, ${bytes(result.logPerDay)} a day`],
    ['Disk, kept', `${bytes(result.keptPerDay)} a day, ${bytes(result.keptPerDay * 365)} a year`],
    [
      'Disk, retained',
      `${bytes(result.retained)} for ${retentionDays} days of events and requests`,
    ],
    ['Largest table', `32 TiB, its limit, after ${duration(result.daysUntilFull)}`],
    ['Clusters', `${count(result.clusters)}: the limit of one is ${count(firstLimit.perSecond)}/s`],
    ['', `first limit: ${LIMIT_TEXTS[firstLimit.name]}`],
  ];
  const title =
    `${plural(demand.paymentsPerDay, kind, `${kind}s`)} a day, each with ${events} events for ` +
    `${plural(endpoints, 'endpoint', 'endpoints')} and ${reads} reads, peak rate ${peak} times the mean`;
  const width = Math.max(...lines.map(([name]) => name.length));
  return [
    title,
    '',
    ...lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    '',
    'Computed from measured costs. docs/scaling.md describes the measurement and the assumptions.',
  ].join('\n');
}

type Table = { title: string; rows: string[][] };

const costTable = (): Table => ({
  title: 'Costs',
  rows: [
    ['Operation', 'Node, µs', 'PostgreSQL, µs', 'Log', 'Kept', 'A week', 'Retained', 'Events'],
    ...Object.entries(PAYMENTS).map(([kind, cost]) => [
      kind,
      count(cost.nodeUs),
      count(cost.postgresUs),
      ...[cost.logBytes, cost.keptBytes, cost.replyBytes, cost.eventBytes + cost.requestBytes].map(
        count,
      ),
      count(cost.events),
    ]),
    ...[{ name: 'a read', cost: READ, retained: READ.requestBytes }].map(
      ({ name, cost, retained }) => [
        ...[name, count(cost.nodeUs), count(cost.postgresUs), count(cost.logBytes)],
        ...['0', '0', count(retained), '0'],
      ],
    ),
    [
      'a delivery',
      ...[DELIVERY.nodeUs, DELIVERY.postgresUs, DELIVERY.logBytes].map(count),
      ...['0', '0', count(DELIVERY.attemptBytes), '0'],
    ],
  ],
});

const HEAD = [
  ...['Railhead processes', 'PostgreSQL processors', 'Connections', 'Log at the peak'],
  ...['Kept a year', 'Retained', 'Clusters', 'Largest table full after'],
];

const cells = (result: Capacity) => [
  ...[count(result.processes), count(result.databaseProcessors), count(result.connections)],
  ...[`${bytes(result.logPerSecond)}/s`, bytes(result.keptPerDay * 365), bytes(result.retained)],
  ...[count(result.clusters), duration(result.daysUntilFull)],
];

const demandOf = (paymentsPerDay: number, kind: Kind, peak: number): Demand => ({
  ...DEFAULTS,
  ...{ paymentsPerDay, kind, peak, events: PAYMENTS[kind].events },
});

/** Capacity by payouts per second at the peak, which is three times the mean. */
const rateTable = (): Table => ({
  title: 'By rate',
  rows: [
    ['Payouts per second', ...HEAD],
    ...[10, 100, 1_000, 5_000].map((rate) => {
      const perDay = (rate * 86_400) / DEFAULTS.peak;
      return [count(rate), ...cells(capacityFor(demandOf(perDay, 'payout', DEFAULTS.peak)))];
    }),
  ],
});

const dayTable = (): Table => ({
  title: 'By day',
  rows: [
    ['Payouts a day', 'Per second at the peak', ...HEAD],
    ...[1e6, 1e7, 1e8].map((perDay) => {
      const result = capacityFor(demandOf(perDay, 'payout', DEFAULTS.peak));
      return [count(perDay), count(result.peakPerSecond), ...cells(result)];
    }),
  ],
});

const LIMIT_NAMES = ['size of a table', 'shared accounts', 'log', 'processors'] as const;

/** Payments per second at which one cluster reaches each limit, by kind. */
const limitTable = (): Table => ({
  title: 'Limits',
  rows: [
    ['Payments', ...LIMIT_NAMES.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}`)],
    ...(Object.keys(PAYMENTS) as Kind[]).map((kind) => {
      const { limits } = capacityFor(demandOf(1, kind, DEFAULTS.peak));
      const perSecondOf = (name: string) =>
        limits.find((limit) => limit.name === name)?.perSecond ?? 0;
      return [kind, ...LIMIT_NAMES.map((name) => `${count(perSecondOf(name))}/s`)];
    }),
  ],
});

/** The tables of docs/scaling.md, as Markdown. */
export function documentTables(): { title: string; markdown: string }[] {
  return [costTable(), rateTable(), dayTable(), limitTable()].map(({ title, rows }) => {
    const [header = [], ...body] = rows;
    const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
    const rule = line(header.map((_, index) => (index === 0 ? '---' : '---:')));
    return { title, markdown: [line(header), rule, ...body.map(line)].join('\n') };
  });
}
