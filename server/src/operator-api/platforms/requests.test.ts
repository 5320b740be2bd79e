// Operations on recorded requests of platforms.
import { afterAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

it('requests of one platform and of all platforms are listed and shown', async () => {
  const quotePath = '/quotes/Quote:00000000-0000-7000-8000-000000000000';
  const failedReply = await app.call('GET', quotePath, undefined, { platform: app.other });
  await app.call('GET', '/quotes/none', undefined, { platform: app.other });
  await app.call('GET', '/requests', undefined, { platform: app.other });
  const id = String(failedReply.headers['x-request-id']);
  const { id: platformId } = app.other;
  const path = `/platforms/${platformId}/requests`;
  const list = ok(await client.call('GET', `${path}?statusClass=4xx&sortOrder=asc`), 200);
  expect(list).toMatchObject({ data: [{ id, errorCode: 'QUOTE_NOT_FOUND' }, {}] });
  const firstPage = ok(await client.call('GET', `${path}?limit=1`), 200);
  expect(firstPage.hasMore).toBe(true);
  const nextPage = ok(
    await client.call('GET', `${path}?limit=1&cursor=${firstPage.nextCursor}`),
    200,
  );
  expect(nextPage.data[0].id).not.toBe(firstPage.data[0].id);
  const reply = ok(await client.call('GET', `/requests/${id}`), 200);
  expect(reply).toMatchObject({ ...list.data[0], platformId });

  // Each request of a platform for its list stores the records of its earlier requests first.
  for (const path of ['/config', '/requests']) await app.call('GET', path);
  const allRequests: { id: string; platformId: string; createdAt: string }[] = [];
  let cursor = '';
  do {
    const page = ok(await client.call('GET', `/requests?limit=1${cursor}`), 200);
    allRequests.push(...page.data);
    cursor = page.hasMore ? `&cursor=${page.nextCursor}` : '';
  } while (cursor);
  expect(new Set(allRequests.map((each) => each.platformId))).toEqual(
    new Set([app.platform.id, platformId]),
  );
  expect(new Set(allRequests.map((each) => each.id)).size).toBe(allRequests.length);
  const times = allRequests.map((each) => each.createdAt);
  expect(times).toEqual(times.toSorted().reverse());
  // The record of the last request may be stored between two reads.
  const { data: singlePage } = ok(await client.call('GET', '/requests?limit=100'), 200);
  const ids = new Set(allRequests.map((each) => each.id));
  expect(allRequests).toEqual(singlePage.filter((each: { id: string }) => ids.has(each.id)));
  const failedRequests = ok(await client.call('GET', '/requests?statusClass=4xx'), 200).data;
  expect(failedRequests).toHaveLength(2);

  const secret = await client.secretOf({ platformIds: [app.platform.id] });
  expect((await client.call('GET', `/requests/${id}`, { secret })).status).toBe(404);
  expect((await client.call('GET', path, { secret })).status).toBe(404);
  expect((await client.call('GET', '/requests/none')).status).toBe(404);
  const unknownReply = await client.call('GET', '/platforms/PlatformConfig:none/requests');
  expect([unknownReply.status, unknownReply.body.code]).toEqual([404, 'PLATFORM_NOT_FOUND']);
});
