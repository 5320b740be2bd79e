// Reads from PostgreSQL's query plans whether a statement reads a range of an index or sorts many
// rows, and how many blocks it reads. The file also generates IDs for the rows of these tests.
import type pg from 'pg';
import { expect } from 'vitest';
import { PLANS } from '../../../src/runtime/db/connections/connect.ts';
import type { Sql } from '../../../src/runtime/db/paging.ts';

/** Throws if a statement scans a table, sorts many rows or reads more blocks than `max`. */
export type CheckPlan = (sql: Sql, max: number) => Promise<void>;

export const uuid = (n: number | string) =>
  `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** SQL for the ID of a resource whose last 12 digits are the value of the expression `n`. */
export const idSql = (resource: string, n: string) =>
  `'${resource}:00000000-0000-7000-8000-' || lpad((${n})::text, 12, '0')`;

/**
 * SQL for the ID of an event of a time and a number. Events are deleted by the time of their ID.
 */
export function eventIdSql(timeOfIds: number, n: string): string {
  const hex = timeOfIds.toString(16).padStart(12, '0');
  const time = `${hex.slice(0, 8)}-${hex.slice(8)}`;
  return `'Webhook:${time}-7000-8000-' || lpad((${n})::text, 12, '0')`;
}

interface Plan {
  'Node Type': string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
  'Index Name'?: string;
  Plans?: Plan[];
}

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];

async function explain(client: pg.Client, { text, values }: Sql): Promise<Plan[]> {
  await client.query(PLANS.join('; '));
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const [reportedPlan] = rows;
  if (!reportedPlan) throw new Error('PostgreSQL returned no query plan');
  return flatten(reportedPlan['QUERY PLAN'][0].Plan);
}

const blocksOf = ([root]: Plan[]) =>
  (root?.['Shared Hit Blocks'] ?? 0) + (root?.['Shared Read Blocks'] ?? 0);

/**
 * Sorts of more than 50 rows. Incremental sorts are permitted, because each sorts only the rows of
 * one time.
 */
const longSorts = (nodes: Plan[]) =>
  nodes.filter(
    (node) => node['Node Type'] === 'Sort' && (node.Plans?.[0]?.['Actual Rows'] ?? 0) > 50,
  );

/**
 * Blocks that a statement reads with the plan that the server uses, which does not depend on the
 * values.
 */
export async function blocksOfGenericPlan(
  client: pg.Client,
  { text, values }: { text: string; values: readonly unknown[] },
  types: readonly string[],
): Promise<number> {
  const literals = values.map((value) => {
    if (value === null) return 'null';
    if (Array.isArray(value)) return `array[${value.map((element) => `'${element}'`).join()}]`;
    return `'${value}'`;
  });
  await client.query("set plan_cache_mode = 'force_generic_plan'");
  await client.query(`prepare planned(${types.join()}) as ${text}`);
  try {
    const execution = `execute planned(${literals.join()})`;
    return blocksOf(await explain(client, { text: execution, values: [] }));
  } finally {
    await client.query('deallocate planned');
    await client.query('reset plan_cache_mode');
  }
}

export const createPlanner =
  (client: pg.Client): CheckPlan =>
  async (sql, max) => {
    const nodes = await explain(client, sql);
    const summary = nodes
      .map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''} ${node['Actual Rows']}`)
      .join(', ');
    // An empty partition has no blocks to read.
    const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && blocksOf([node]) > 0);
    expect(scans, summary).toEqual([]);
    expect(longSorts(nodes), summary).toEqual([]);
    expect(blocksOf(nodes), summary).toBeLessThanOrEqual(max);
  };
