// The world `business`, which a job builds through the operations of the API at times in the past.
import { expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { businessPlan } from './plan.ts';

const app = testApp();
const build = (body: object = {}) =>
  app.call('POST', '/sandbox/fixtures', { world: 'business', ...body });

const DAY = 86_400_000;

it('the plan contains the same payments for the same input, in order of time', () => {
  const input = { from: 0, until: 60 * DAY, payments: 400 };
  const [firstPlan, secondPlan] = [businessPlan(input), businessPlan(input)];
  const stepsOf = (plan: typeof firstPlan) =>
    JSON.stringify(plan.map(({ at, steps }) => [at, steps]));
  expect(stepsOf(secondPlan)).toBe(stepsOf(firstPlan));
  expect(firstPlan.every(({ at }, index) => at >= (firstPlan[index - 1]?.at ?? 0))).toBe(true);
});

it('the world starts in the past and ends at the present', async () => {
  const startedAt = app.effects.now();
  expect(ok(await build({ payments: 60 }), 201)).toEqual({ steps: 0, resources: {} });
  await app.settle();
  const failedJobsSql = 'select kind, last_error from jobs where state = $1';
  expect(await app.runtime.db.query(failedJobsSql, ['dead'])).toEqual([]);
  const { currentTime, frozen } = ok(await app.call('GET', '/sandbox/clock'), 200);
  expect([Date.parse(currentTime), frozen]).toEqual([startedAt, false]);

  const earliestTransactions = await app.runtime.db.query<{ kind: string; min: number }>(
    "select type || ' ' || status as kind, min(created_at) from transactions group by 1",
    [],
  );
  const kinds = earliestTransactions.map(({ kind }) => kind);
  for (const kind of ['INCOMING COMPLETED', 'INCOMING PENDING', 'OUTGOING COMPLETED']) {
    expect(kinds).toContain(kind);
  }
  for (const kind of ['OUTGOING PROCESSING', 'OUTGOING PENDING', 'CARD SETTLED']) {
    expect(kinds).toContain(kind);
  }
  expect(Math.min(...earliestTransactions.map(({ min }) => min))).toBeLessThan(
    startedAt - 55 * DAY,
  );
  await expectBalancedBooks(app);
}, 120_000);

it('the times of events follow the order of their commits within two minutes', async () => {
  const events = await app.runtime.db.query<{ created_at: number }>(
    'select created_at from events where platform_id = $1 order by position, id',
    [app.platform.id],
  );
  expect(events.length).toBeGreaterThan(300);
  let latestTime = 0;
  let maxDelayMs = 0;
  for (const { created_at } of events) {
    latestTime = Math.max(latestTime, created_at);
    maxDelayMs = Math.max(maxDelayMs, latestTime - created_at);
  }
  expect(maxDelayMs).toBeLessThan(120_000);
});

it('the world has identity checks in review, agents, a stablecoin and endpoints', async () => {
  const readList = async (path: string) => ok(await app.call('GET', path), 200).data;
  const customers = await readList('/customers?limit=100');
  const pendingCustomers = customers.filter(
    (each: { kycStatus?: string; kybStatus?: string }) =>
      (each.kycStatus ?? each.kybStatus) === 'PENDING',
  );
  expect(pendingCustomers.length).toBeGreaterThan(4);
  expect(pendingCustomers[0]).not.toMatchObject({ fullName: expect.stringContaining('001') });
  const documents = await readList('/documents');
  const names = new Set(documents.map(({ fileName }: { fileName: string }) => fileName));
  expect([...names].sort()).toEqual(['passport.png', 'utility-bill.pdf']);
  expect(await readList('/agents/approvals')).not.toEqual([]);
  expect(await readList('/stablecoins')).toHaveLength(1);
  expect(await readList('/webhook-endpoints')).toHaveLength(2);
});

it('the world requires an empty platform, and rejects fields of other worlds', async () => {
  expect(await build()).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  const statusAndFields = async (body: object) => {
    const { status, body: reply } = await app.call('POST', '/sandbox/fixtures', body);
    const errors: { field: string }[] = reply.details?.errors ?? [];
    return [status, ...errors.map(({ field }) => field)];
  };
  const steps = [{ operationId: 'listCustomers' }];
  expect(await statusAndFields({ world: 'business', steps, seed: 'x' })).toEqual([
    400,
    'steps',
    'seed',
  ]);
  expect(await statusAndFields({ world: 'starter', payments: 100 })).toEqual([400, 'payments']);
  await createCustomer(app, { platform: app.other });
  const { status } = await app.call(
    'POST',
    '/sandbox/fixtures',
    { world: 'business' },
    { platform: app.other },
  );
  expect(status).toBe(409);
});
