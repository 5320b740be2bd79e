// Records of rejected sign-ins while the database is unavailable.
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { newOperatorUser } from '../../../../../test/kit/operator/client.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { verifyAudit } from '../../audit/index.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { recordRejection, type SignInAttempt } from './rejections.ts';

const app = testApp();

const attempt: SignInAttempt = {
  browser: {
    site: { rpId: 'operator.example', origin: 'https://operator.example', isSecure: true },
    ...{ deviceHash: 'device', newCookies: [], address: '192.0.2.1', requestId: undefined },
  },
  operationId: 'signInWithPasskey',
};

const unavailableFault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');

/** A runtime whose database rejects the first `count` commits. */
function runtimeWithRejections(count: number) {
  let commitCount = 0;
  const { commit } = app.runtime.committer;
  return {
    ...app.runtime,
    committer: {
      commit: async (...args: Parameters<typeof commit>) => {
        commitCount += 1;
        if (commitCount <= count) throw unavailableFault;
        return commit(...args);
      },
    },
  };
}

async function createUser(): Promise<UserRow> {
  const { user } = await newOperatorUser(app);
  return (await app.runtime.db.read(operatorUsers, user.id)) as UserRow;
}

const countAuditRecords = async () => (await verifyAudit(app.runtime)).records;

describe('a rejection while the database is unavailable', () => {
  it('of a known user is not replaced by a rejection of an unknown user', async () => {
    const user = await createUser();
    const countBefore = await countAuditRecords();
    const runtime = runtimeWithRejections(1);
    const record = () => recordRejection(runtime, attempt, user, 'disabled user');
    await expect(record()).rejects.toBe(unavailableFault);
    expect(await countAuditRecords()).toBe(countBefore);
    await record();
    expect(await countAuditRecords()).toBe(countBefore + 1);
  });

  it('has the same reply for a known and an unknown user', async () => {
    for (const user of [await createUser(), undefined]) {
      const rejection = recordRejection(runtimeWithRejections(9), attempt, user, 'wrong code');
      await expect(rejection).rejects.toBe(unavailableFault);
    }
  });
});
