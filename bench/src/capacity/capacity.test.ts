// The sizing model, its flags, and the tables of docs/scaling.md, which are its results.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRequest } from './demand.ts';
import {
  type Capacity,
  capacityFor,
  type Demand,
  LIMITS,
  MEASUREMENT,
  PAYMENTS,
  UTILIZATION,
} from './model.ts';
import { documentTables, reportOf } from './report.ts';

const demandOf = (...argv: string[]): Demand => {
  const result = readRequest(argv);
  if ('errors' in result || !result.request.demand) throw new Error(JSON.stringify(result));
  return result.request.demand;
};
const capacityOf = (paymentsPerDay: number, ...argv: string[]): Capacity =>
  capacityFor(demandOf('--payments-per-day', String(paymentsPerDay), ...argv));
/** Payments per day at which one cluster reaches its first limit. */
const perDayAtFirstLimit = ({ limits, peakPerSecond }: Capacity) =>
  (1e6 * (limits[0]?.perSecond ?? 0)) / peakPerSecond;

describe('the model', () => {
  it('has results in proportion to the number of payments and to the peak', () => {
    const [smallCapacity, largeCapacity] = [capacityOf(1e6), capacityOf(1e7)];
    for (const name of [
      'peakPerSecond',
      'nodeBusy',
      'keptPerDay',
      'retained',
      'logPerDay',
    ] as const)
      expect(largeCapacity[name] / smallCapacity[name]).toBeCloseTo(10);
    expect(capacityOf(1e7, '--peak', '6').nodeBusy).toBeCloseTo(2 * largeCapacity.nodeBusy);
  });

  it('adds the costs of reads, endpoints and bodies', () => {
    const minimalCapacity = capacityOf(1e7, '--reads=0', '--endpoints=0');
    const { nodeUs, postgresUs, logBytes } = PAYMENTS.payout;
    expect(minimalCapacity.nodeBusy).toBeCloseTo((minimalCapacity.peakPerSecond * nodeUs) / 1e6);
    expect(minimalCapacity.postgresBusy).toBeCloseTo(
      (minimalCapacity.peakPerSecond * postgresUs) / 1e6,
    );
    expect(minimalCapacity.logPerDay).toBe(1e7 * logBytes);
    expect(capacityOf(1e7, '--reads=1', '--endpoints=0').nodeBusy).toBeGreaterThan(
      minimalCapacity.nodeBusy,
    );
    const capacityWithEndpoints = capacityOf(1e7, '--reads=0', '--endpoints=2');
    expect(capacityWithEndpoints.postgresBusy).toBeGreaterThan(minimalCapacity.postgresBusy);
    expect(capacityWithEndpoints.retained).toBeGreaterThan(minimalCapacity.retained);
    const capacityWithBodies = capacityOf(1e7, '--reads=0', '--endpoints=0', '--bodies');
    expect(capacityWithBodies.retained).toBeGreaterThan(minimalCapacity.retained);
    expect(capacityWithBodies.keptPerDay).toBe(minimalCapacity.keptPerDay);
  });

  it('retains rows for the retention period and one week, the length of a partition', () => {
    const storedReplyBytes = 7 * 1e6 * PAYMENTS.payout.replyBytes;
    const [capacityFor8Days, capacityFor23Days] = [
      capacityOf(1e6, '--retention=8d'),
      capacityOf(1e6, '--retention=23d'),
    ];
    expect(
      (capacityFor23Days.retained - storedReplyBytes) /
        (capacityFor8Days.retained - storedReplyBytes),
    ).toBeCloseTo(2);
  });

  it('requires at least two processes, and a second cluster above the first limit', () => {
    expect(capacityOf(1)).toMatchObject({ processes: 2, databaseProcessors: 2, clusters: 1 });
    const perDay = perDayAtFirstLimit(capacityOf(1e6));
    expect(capacityOf(Math.floor(perDay * 0.99)).clusters).toBe(1);
    expect(capacityOf(Math.ceil(perDay * 1.01)).clusters).toBe(2);
  });

  it('lists the limits of a cluster in ascending order', () => {
    const namesOf = (...argv: string[]) => capacityOf(1e6, ...argv).limits.map(({ name }) => name);
    // The size of a table depends on the mean rate, so its limit is the highest at a high peak.
    const minimalFlags = ['--peak=50', '--events=0', '--reads=0'];
    expect(namesOf(...minimalFlags)).toEqual([
      'shared accounts',
      'log',
      'processors',
      'size of a table',
    ]);
    const { postgresUs, logBytes } = PAYMENTS.payout;
    expect(capacityOf(1e6, ...minimalFlags).limits.slice(0, 3)).toEqual([
      { name: 'shared accounts', perSecond: (LIMITS.batch * 1_000) / LIMITS.heldMs },
      { name: 'log', perSecond: LIMITS.logBytesPerSecond / logBytes },
      { name: 'processors', perSecond: (LIMITS.processors * UTILIZATION * 1e6) / postgresUs },
    ]);
    expect(namesOf('--peak=50', '--reads=500')[0]).toBe('processors');
  });

  it('allows at most the rate at which the largest table is full after a year', () => {
    const steadyCapacity = capacityOf(1e6, '--peak=1');
    expect(steadyCapacity.limits[0]?.name).toBe('size of a table');
    const perDay = Math.floor(perDayAtFirstLimit(steadyCapacity));
    expect(capacityOf(perDay, '--peak=1')).toMatchObject({ clusters: 1 });
    expect(capacityOf(perDay, '--peak=1').daysUntilFull).toBeCloseTo(365, 0);
  });
});

describe('npm run capacity', () => {
  it('has defaults, and accepts a value after a space or an equals sign', () => {
    const demand = demandOf('--payments-per-day', '10000000', '--events=4', '--retention', '30d');
    expect(demand).toEqual({
      ...{ paymentsPerDay: 10_000_000, kind: 'payout', events: 4, endpoints: 1, reads: 2 },
      ...{ retentionDays: 30, peak: 3, bodies: false },
    });
    expect(demandOf('--payments-per-day=1', '--kind=deposit').events).toBe(PAYMENTS.deposit.events);
  });

  it('reports all invalid flags together', () => {
    const argv = ['--events', 'x', '--peak=0', '--reads', '--retention=5', '--kind=card', '--foo'];
    expect(readRequest([...argv, '--peak=2'])).toEqual({
      errors: [
        '--foo is unknown.',
        '--peak is repeated. Give each flag once.',
        '--payments-per-day is missing.',
        '--kind must be payout, conversion or deposit. The value is card.',
        '--events must be a whole number from 0 to 100. The value is x.',
        '--reads must be a number from 0 to 1000. The value is missing.',
        '--retention must be a number of days from 8d to 999d. The value is 5.',
      ],
    });
    expect(readRequest(['--payments-per-day', '-1'])).toEqual({
      errors: [
        '--payments-per-day must be a whole number from 1 to 1000000000000. The value is -1.',
      ],
    });
  });

  it('prints rates, processes, disk space and the first limit', () => {
    const report = reportOf(demandOf('--payments-per-day=10000000', '--events=5'));
    expect(report).toMatch(
      /^10,000,000 payouts a day, each with 5 events for 1 endpoint and 2 reads/,
    );
    for (const name of ['Payments', 'Railhead', 'PostgreSQL', 'Log', 'Disk, kept', 'Clusters'])
      expect(report).toContain(`\n  ${name} `);
    expect(report).toContain('116/s, 347/s at the peak');
    expect(report).toContain('first limit: ');
  });
});

describe('docs/scaling.md', () => {
  const file = path.resolve(import.meta.dirname, '../../../docs/scaling.md');
  /** Lines of tables without the width of their columns. */
  const compact = (markdown: string) =>
    markdown
      .split('\n')
      .map((line) => line.replaceAll(/ *\| */g, '|').replaceAll(/-+/g, '-'))
      .join('\n');
  const page = compact(fs.readFileSync(file, 'utf8'));

  it.each(documentTables())('has the table that the model computes: $title', ({ markdown }) => {
    expect(page).toContain(compact(markdown));
  });

  it('states the measurement', () => {
    expect(page.replaceAll('\n', ' ')).toContain(MEASUREMENT.replaceAll(/-+/g, '-'));
  });
});
