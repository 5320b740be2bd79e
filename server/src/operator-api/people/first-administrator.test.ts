// The enrollment link of the first administrator: every start prints the same link until a user
// has enrolled.
import { expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { browser, enrollWithPasskey } from '../../../test/kit/operator/people.ts';
import { enrollment } from '../../features/staff/users/index.ts';

const app = testApp();
const client = operatorClient(app);

it('the link is the same in every process, and is invalid once another user has enrolled', async () => {
  const links = await Promise.all(
    [1, 2, 3].map(() => enrollment.firstAdministratorLink(app.runtime)),
  );
  const [firstLink] = links;
  for (const each of links) expect(each).toEqual(firstLink);
  const secret = firstLink?.secret ?? '';
  const openLink = () => browser(app).call('POST', '/enrollment', { body: { secret } });
  expect((await openLink()).status).toBe(200);
  const body = { name: 'Other', email: 'other@example.com', roles: ['administrator'] };
  const { link } = ok(await client.call('POST', '/operator-users', { body }), 201);
  expect((await openLink()).status).toBe(200);
  ok((await enrollWithPasskey(browser(app), link.secret)).reply, 201);
  expect((await openLink()).status).toBe(410);
  expect(await enrollment.firstAdministratorLink(app.runtime)).toBeUndefined();
});
