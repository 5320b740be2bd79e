// The audit of operators: a record in the commit of each change, and a chain that shows tampering.
import { describe, expect, it } from 'vitest';
import { testApp, testAppForEach } from '../../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../../test/kit/operator/client.ts';
import { emptyChangeSet } from '../../../runtime/committer/change-set.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { readOwnPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { changePlatform, platforms } from '../../tenancy/platform/store.ts';
import { auditedRuntime, verifyAudit } from './index.ts';

const OPERATOR = {
  kind: 'COMMAND',
  id: 'command',
  personId: 'command',
  name: 'test@machine',
  roles: [],
  permissions: [],
  platformIds: null,
} as const;

type App = ReturnType<typeof testApp>;

/** Renames the platform as an operator. */
async function rename(app: App, name: string, requestKey?: string) {
  const request = { operator: OPERATOR, operationId: 'test', reason: 'why', requestKey };
  const operatorRuntime = auditedRuntime(app.runtime, request);
  const caller = systemCaller(app.platform.id, 'sandbox');
  await operate(operatorRuntime.runtime, caller, async (ctx) =>
    changePlatform(ctx, await readOwnPlatform(ctx), { name }),
  );
}

describe('a record', () => {
  const app = testApp();

  it('has the values before and after, its actor and its reason', async () => {
    const client = operatorClient(app);
    await rename(app, 'Renamed');
    const { body } = await client.call('GET', `/audit-records?platformId=${app.platform.id}`);
    const [renameRecord] = body.data;
    expect(renameRecord).toMatchObject({
      actor: { kind: 'COMMAND', id: 'command', name: 'test@machine' },
      operationId: 'test',
      reason: 'why',
      platformId: app.platform.id,
      hasChanges: true,
    });
    const reply = await client.call('GET', `/audit-records/${renameRecord.id}/changes`);
    expect(reply.body.changes.rows).toEqual([
      expect.objectContaining({
        table: 'platforms',
        id: app.platform.id,
        before: expect.objectContaining({ name: 'Main' }),
        after: expect.objectContaining({ name: 'Renamed' }),
      }),
    ]);
    // Reading the changes is recorded as well.
    const readRecords = await client.call(
      'GET',
      '/audit-records?operationId=getAuditRecordChanges',
    );
    expect(readRecords.body.data).toEqual([
      expect.objectContaining({
        subject: renameRecord.id,
        hasChanges: false,
        requestId: expect.any(String),
      }),
    ]);
  });

  it('is written once for an idempotency key', async () => {
    await rename(app, 'Once', 'key');
    await expect(rename(app, 'Twice', 'key')).rejects.toThrow('was executed before');
    const [{ name } = { name: '' }] = await app.runtime.db.query<{ name: string }>(
      'select name from platforms where id = $1',
      [app.platform.id],
    );
    expect(name).toBe('Once');
  });

  it('is numbered without gaps under concurrent commits', async () => {
    const verifiedBefore = await verifyAudit(app.runtime);
    await Promise.all(Array.from({ length: 30 }, (_, index) => rename(app, `Name ${index}`)));
    const verifiedAfter = await verifyAudit(app.runtime);
    expect(verifiedAfter.problems).toEqual([]);
    expect(verifiedAfter.records).toBe(verifiedBefore.records + 30);
    expect(verifiedAfter.last.number).toBe(verifiedAfter.records);
  });

  it('is rejected with its change if the operator may not access the platform', async () => {
    const operator = { ...OPERATOR, platformIds: [app.other.id] };
    const operatorRuntime = auditedRuntime(app.runtime, { operator, operationId: 'test' });
    const caller = systemCaller(app.platform.id, 'sandbox');
    const change = operate(operatorRuntime.runtime, caller, async (ctx) =>
      changePlatform(ctx, await readOwnPlatform(ctx), { name: 'Foreign' }),
    );
    await expect(change).rejects.toThrow('not found');
  });

  it('is rejected before the approval check if the change includes another platform', async () => {
    const operator = { ...OPERATOR, platformIds: [app.other.id] };
    let checks = 0;
    const operatorRuntime = auditedRuntime(
      app.runtime,
      { operator, operationId: 'test' },
      async (set) => {
        checks++;
        return set;
      },
    );
    const rowOf = (id: string) => ({ table: platforms, row: { id } });
    const set = { ...emptyChangeSet(), inserts: [app.other.id, app.platform.id].map(rowOf) };
    await expect(operatorRuntime.runtime.committer.commit(set)).rejects.toThrow('not found');
    expect(checks).toBe(0);
  });

  it('is not written if the commit is rejected', async () => {
    const verifiedBefore = await verifyAudit(app.runtime);
    const operatorRuntime = auditedRuntime(app.runtime, {
      operator: OPERATOR,
      operationId: 'test',
    });
    const outdatedRow = { table: platforms, id: app.platform.id, version: 1_000_000 };
    const outcome = await operatorRuntime.runtime.committer.commit({
      ...emptyChangeSet(),
      requires: [outdatedRow],
    });
    expect(outcome).toMatchObject({ ok: false, rejection: { reason: 'version' } });
    expect(operatorRuntime.count()).toBe(0);
    expect((await verifyAudit(app.runtime)).last).toEqual(verifiedBefore.last);
  });
});

describe('verification', () => {
  const app = testAppForEach();
  const runSql = async (text: string) => {
    await app.runtime.db.query('alter table operator_audit disable trigger user');
    await app.runtime.db.query(text);
  };
  const copyOf = (number: number, columns: string) =>
    `insert into operator_audit (id, number, ${columns}) ` +
    `select 'AuditRecord:forged', ${number}, ${columns} from operator_audit where number = 3`;
  const COLUMNS =
    'actor_kind, actor_id, actor_name, roles, operation_id, previous_hash, hash, created_at';

  /** Writes five records. Returns the last. */
  const writeFiveRecords = async () => {
    for (let number = 1; number <= 5; number++) await rename(app, `Name ${number}`);
    const { problems, last } = await verifyAudit(app.runtime);
    expect(problems).toEqual([]);
    return last;
  };

  const otherHash = "repeat('0', 64)";
  const change = (set: string, number: number) =>
    `update operator_audit set ${set} where number = ${number}`;
  const remove = (number: number) => `delete from operator_audit where number = ${number}`;
  const changeHead = (set: string) => `update operator_audit_head set ${set}`;

  it.each([
    ['a changed field', [change("reason = 'other'", 3)]],
    ['a changed actor', [change("actor_id = 'other'", 3)]],
    ['a changed time', [change("created_at = created_at - interval '1 s'", 3)]],
    [
      'changes that were replaced',
      [change('changes = (select changes from operator_audit where number = 2)', 3)],
    ],
    ['changes that were removed', [change('changes = null', 3)]],
    ['a removed record', [remove(3)]],
    ['a removed first record', [remove(1)]],
    ['a removed last record', [remove(5)]],
    [
      'a removed record and renumbered later records',
      [
        remove(3),
        'update operator_audit set number = number - 1 where number > 3',
        changeHead('number = 4'),
      ],
    ],
    [
      'exchanged records',
      [change('number = -3', 3), change('number = 3', 4), change('number = 4', -3)],
    ],
    ['a forged record at the end', [copyOf(6, COLUMNS), changeHead('number = 6')]],
    ['another hash', [change(`hash = ${otherHash}`, 5), changeHead(`hash = ${otherHash}`)]],
    ['a changed head', [changeHead(`hash = ${otherHash}`)]],
  ])('finds %s', async (_, statements) => {
    await writeFiveRecords();
    for (const statement of statements) await runSql(statement);
    const { problems } = await verifyAudit(app.runtime);
    expect(problems.length).toBeGreaterThan(0);
  });

  it('detects a chain truncated with its head by a previously stored number and hash', async () => {
    const recordedHead = await writeFiveRecords();
    expect((await verifyAudit(app.runtime, recordedHead)).problems).toEqual([]);
    await runSql('delete from operator_audit where number > 3');
    await runSql(
      'update operator_audit_head set number = 3, ' +
        'hash = (select hash from operator_audit where number = 3)',
    );
    expect((await verifyAudit(app.runtime)).problems).toEqual([]);
    expect((await verifyAudit(app.runtime, recordedHead)).problems).toEqual([
      'record 5 differs from the expected number and hash',
    ]);
  });

  it('is supported by a trigger that rejects changes of records', async () => {
    await writeFiveRecords();
    const change = app.runtime.db.query("update operator_audit set reason = 'other'");
    await expect(change).rejects.toThrow('never changed');
  });
});
