// The state of the installation, without secrets.
import { expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);

it('the state of the installation has versions, settings and the database without secrets', async () => {
  const system = ok(await client.call('GET', '/system'), 200);
  expect(system).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    process: {
      number: null,
      roles: ['api', 'jobs', 'deliver'],
      nodeVersion: process.versions.node,
      committer: { waiting: 0 },
    },
    settings: { operatorUrl: null, hasIdentityProvider: false, walletRecoveryHours: null },
  });
  const { database } = system;
  expect(database.version).toMatch(/^\d+/);
  expect(database.sizeBytes).toBeGreaterThan(0);
  expect(database.migrations.latest).toMatch(/^\d{4}_\w+\.sql$/);
  expect(database.tables).toHaveLength(10);
  expect(database.connections.length).toBeGreaterThan(0);
  expect(JSON.stringify(system)).not.toMatch(/postgres:\/\//);
  ok(await app.call('GET', '/config'), 200);
});
