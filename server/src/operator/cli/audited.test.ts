// Audit records of the command: of changes, and of verbs that show personal data.
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { main } from '../../operator.ts';

const app = testApp();
const client = operatorClient(app);

async function run(...argv: string[]) {
  const notes: string[] = [];
  const code = await main(argv, {
    env: {
      DATABASE_URL: app.databaseUrl,
      RAILHEAD_MASTER_KEY: '07'.repeat(32),
      SUDO_USER: 'anna',
    },
    out: () => undefined,
    err: () => undefined,
    note: (text) => notes.push(text),
  });
  return { code, notes };
}

const recordsOf = async (operationId: string) => {
  const query = new URLSearchParams({ operationId });
  const { body } = await client.call('GET', `/audit-records?${query}`);
  return body.data;
};

it('the command records a change with its user and its subject', async () => {
  const { code, notes } = await run('platform', 'set', app.platform.id, '--name', 'Renamed');
  expect([code, notes.length]).toEqual([0, 1]);
  const actor = { kind: 'COMMAND', id: 'command', name: expect.stringMatching(/^anna@/) };
  expect(await recordsOf('platform set')).toEqual([
    expect.objectContaining({
      actor: expect.objectContaining(actor),
      subject: app.platform.id,
      hasChanges: true,
    }),
  ]);
});

it('the command records a verb without a change only if the verb shows personal data', async () => {
  expect(await run('platform', 'list')).toEqual({ code: 0, notes: [] });
  expect(await recordsOf('platform list')).toEqual([]);
  const { code, notes } = await run('payouts', 'list');
  expect([code, notes.length]).toEqual([0, 1]);
  expect(await recordsOf('payouts list')).toEqual([expect.objectContaining({ hasChanges: false })]);
});
