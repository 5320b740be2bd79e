// Operations for the rights of data subjects: search, export and erasure.
import { afterEach, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const PERSON = { fullName: 'Quintessa Vandermolen', email: 'quintessa@vandermolen.example' };
const createPerson = async (overrides: object = {}) => {
  const { id } = await createCustomer(app, {}, { ...PERSON, ...overrides });
  return id as string;
};
const recordsOf = async (subject: string) =>
  ok(await client.call('GET', `/audit-records?outcome=SUCCEEDED&subject=${subject}`), 200).data;
const ERASURE = { confirm: 'ERASE', reason: 'Request of the customer' };

it('the API finds customers by personal data, in pages', async () => {
  const ids = [await createPerson(), await createPerson()].sort();
  const search = async (query: string, secret?: string) => {
    const body = { field: 'email', value: ' Quintessa@vandermolen.EXAMPLE' };
    const options = { body, ...(secret ? { secret } : {}) };
    return ok(await client.call('POST', `/customers/search${query}`, options), 200);
  };
  const firstPage = await search('?limit=1');
  expect(firstPage).toMatchObject({
    data: [{ customerId: ids[0], isDeleted: false }],
    hasMore: true,
  });
  const secondPage = await search(`?limit=1&cursor=${firstPage.nextCursor}`);
  expect(secondPage).toMatchObject({
    data: [{ customerId: ids[1], ownerId: null }],
    hasMore: false,
  });
  expect(JSON.stringify(firstPage)).not.toContain('Quintessa');
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await search('', secret)).data).toEqual([]);
});

it('the API exports the data of a customer in pages and records the access', async () => {
  const id = await createPerson({ email: 'export@vandermolen.example' });
  const rows: { table: string; row: Record<string, unknown> }[] = [];
  let cursor = '';
  do {
    const path = `/customers/${id}/export?limit=2${cursor && `&cursor=${cursor}`}`;
    const reply = ok(await client.call('GET', path), 200);
    expect(reply.data.length).toBeLessThanOrEqual(2);
    rows.push(...reply.data);
    cursor = reply.nextCursor ?? '';
  } while (cursor);
  const auditTable = 'operator_audit';
  const completeExport = ok(await client.call('GET', `/customers/${id}/export?limit=100`), 200);
  // Each page adds an audit record, so only the other tables are compared.
  const otherTables = (allRows: typeof rows) => allRows.filter(({ table }) => table !== auditTable);
  expect(otherTables(rows)).toEqual(otherTables(completeExport.data));
  expect(rows[0]).toMatchObject({ table: 'customers', row: { id } });
  expect(JSON.stringify(rows[0])).toContain('Quintessa');
  expect(rows.some(({ table }) => table === 'events')).toBe(true);
  expect((await recordsOf(id))[0]).toMatchObject({
    ...{ operationId: 'exportCustomerData', customerId: id, platformId: app.platform.id },
  });
  const rejectedReply = await client.call('GET', `/customers/${id}/export?cursor=x`);
  expect(rejectedReply.body.code).toBe('INVALID_INPUT');
});

it('the API erases a deleted customer and lists its erasure', async () => {
  const id = await createPerson({ email: 'erase@vandermolen.example' });
  const erase = (body: object = ERASURE) =>
    client.call('POST', `/customers/${id}/erasure`, { body });
  expect((await erase()).body.code).toBe('CONFLICT');
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  expect((await erase({ reason: 'x' })).status).toBe(400);
  const erasure = ok(await erase(), 200);
  expect(erasure).toMatchObject({ customerId: id, actor: 'Test', reason: ERASURE.reason });
  expect(erasure.finishedAt).not.toBeNull();
  expect((await recordsOf(id))[0]).toMatchObject({ operationId: 'eraseCustomer' });
  const list = ok(await client.call('GET', `/erasures?platformId=${app.platform.id}`), 200);
  expect(list.data).toMatchObject([{ customerId: id }]);
  const exportedData = ok(await client.call('GET', `/customers/${id}/export?limit=100`), 200);
  expect(JSON.stringify(exportedData)).not.toContain('Quintessa');
});

it('the API hides customers of other platforms', async () => {
  const id = await createPerson({ email: 'hidden@vandermolen.example' });
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', `/customers/${id}/export`, { secret })).status).toBe(404);
  const path = `/customers/${id}/erasure`;
  expect((await client.call('POST', path, { body: ERASURE, secret })).status).toBe(404);
  expect(ok(await client.call('GET', '/erasures', { secret }), 200).data).toEqual([]);
  const exportedData = ok(await client.call('GET', `/customers/${id}/export`), 200);
  expect(JSON.stringify(exportedData)).toContain('Quintessa');
});

it('the API erases only after an approval if a policy requires it', async () => {
  const policy = { operationId: 'eraseCustomer', hours: 24, reason: 'Second operator' };
  const { id: policyId } = ok(
    await client.call('POST', '/approval-policies', { body: policy }),
    201,
  );
  const id = await createPerson({ email: 'approved@vandermolen.example' });
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  const readCustomerRow = async () => {
    const [row] = await app.runtime.db.query<{ version: number; personal: string | null }>(
      'select version, personal from customers where id = $1',
      [id],
    );
    return row;
  };
  const rowBefore = await readCustomerRow();
  const requestedReply = await client.call('POST', `/customers/${id}/erasure`, { body: ERASURE });
  expect(requestedReply.status).toBe(202);
  expect(await readCustomerRow()).toEqual(rowBefore);
  const secret = await client.secretOf({ name: 'Second' });
  const approvalPath = `/approvals/${requestedReply.body.id}`;
  const details = ok(await client.call('GET', approvalPath, { secret }), 200);
  expect(details.changes.rows).toMatchObject([{ table: 'customers', id }]);
  const body = { reason: 'checked' };
  const { reply } = ok(await client.call('POST', `${approvalPath}/approve`, { body, secret }), 200);
  expect(reply).toMatchObject({ customerId: id, finishedAt: expect.any(String) });
  expect((await readCustomerRow())?.personal).toBeNull();
  ok(await client.call('DELETE', `/approval-policies/${policyId}`), 200);
});
