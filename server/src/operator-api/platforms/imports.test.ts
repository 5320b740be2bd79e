// Operations on customer imports, with every failed row.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { importErrors, imports } from '../../features/customers/imports/store.ts';

const app = testApp();
const client = operatorClient(app);
const ROWS = 150;
let importId: string;

beforeAll(async () => {
  importId = await app.operate(async (ctx) => {
    const row = ctx.insert(imports, {
      id: ctx.id('BulkCustomerImportJob'),
      platform_id: ctx.caller.platformId,
      columns: [],
      next_byte: 0n,
      ...{ total: ROWS + 1, successful: 1, failed: ROWS, status: 'COMPLETED' },
      created_at: ctx.now,
      completed_at: ctx.now,
    });
    for (let index = 1; index <= ROWS; index++) {
      ctx.insert(importErrors, {
        id: `${row.id} ${index}`,
        import_id: row.id,
        row: index,
        ...{ correlation_id: `c-${index}`, code: 'INVALID_INPUT', message: 'Invalid' },
        details: { errors: [{ field: 'city', message: 'is required' }] },
      });
    }
    return row.id;
  });
});

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

it('imports are listed and shown', async () => {
  const { data } = ok(await client.call('GET', '/imports'), 200);
  expect(data).toMatchObject([{ importId, platformId: app.platform.id, failed: ROWS }]);
  expect(ok(await client.call('GET', `/imports/${importId}`), 200)).toEqual(data[0]);
  expect((await client.call('GET', '/imports/none')).status).toBe(404);
  expect((await client.call('GET', '/imports?platformId=none')).status).toBe(404);
});

it('imports show every failed row, in pages', async () => {
  const path = `/imports/${importId}/errors`;
  const firstPage = ok(await client.call('GET', path), 200);
  expect(firstPage.hasMore).toBe(true);
  expect(firstPage.rows[0]).toEqual({
    ...{ row: 1, correlationId: 'c-1', code: 'INVALID_INPUT', message: 'Invalid' },
    errors: [{ field: 'city', message: 'is required' }],
  });
  const nextPage = ok(await client.call('GET', `${path}?after=${firstPage.rows.at(-1).row}`), 200);
  expect([nextPage.hasMore, firstPage.rows.length + nextPage.rows.length]).toEqual([false, ROWS]);
  expect((await client.call('GET', '/imports/none/errors')).status).toBe(404);
});

it('imports of other platforms are hidden', async () => {
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect(ok(await client.call('GET', '/imports', { secret }), 200).data).toEqual([]);
  for (const path of [`/imports/${importId}`, `/imports/${importId}/errors`]) {
    expect((await client.call('GET', path, { secret })).status).toBe(404);
  }
});
