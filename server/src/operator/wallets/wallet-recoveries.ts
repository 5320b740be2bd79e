// `wallet recover|recoveries|cancel-recovery`: the way back for a user who can prove no credential of their
// wallet any more. An installation has none unless it is told how long such a user waits. What the verbs
// write is found and ended by a running server; every contact of the user hears of it meanwhile.
import { callerOf } from '../../features/tenancy/platform/index.ts';
import {
  type RecoveryRow,
  type RecoveryType,
  startRecovery,
  stopRecovery,
  walletFeature,
  walletRecoveries,
} from '../../features/wallets/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { equals } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { loadSigningKeys } from '../../runtime/security/keys.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';
import { ACCOUNT, walletRowOf } from './wallet-rows.ts';

const TYPES: readonly RecoveryType[] = ['EMAIL_OTP', 'SMS_OTP'];

const OFF =
  'Wallets have no way back here: RAILHEAD_WALLET_RECOVERY, the hours to wait for one, is not set. ' +
  'It must be set for this command as well as for the server.';

const timeOf = (at: Time | null) => (at === null ? null : iso(at));

const view = (row: RecoveryRow) => ({
  recoveryId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  accountId: row.account_id,
  type: row.type,
  status: row.status,
  actor: row.actor,
  reason: row.reason,
  cancelledFor: row.cancelled_for,
  cancelledBy: row.cancelled_by,
  createdAt: iso(row.created_at),
  dueAt: iso(row.due_at),
  endedAt: timeOf(row.ended_at),
});

function shown(row: RecoveryRow): Output {
  const json = view(row);
  const stopped = json.cancelledFor ?? '';
  const text = record([
    ['Recovery', json.recoveryId],
    ['Account', json.accountId],
    ['Credential', json.type],
    ['Status', stopped ? `${json.status}, ${stopped}` : json.status],
    ['Asked for by', json.actor],
    ['Reason', json.reason],
    ['Due', json.dueAt],
  ]);
  return { json, text };
}

/** Messages and digests that another key than the server's made would be of no use to it. */
const checkKeys = ({ runtime, masterKey }: System) => loadSigningKeys(runtime, masterKey());

async function recover(system: System, given: Given): Promise<Output> {
  const { runtime, walletRecoveryMs: delayMs } = system;
  if (delayMs === undefined) throw new Error(OFF);
  const { id: accountId, platform_id } = await walletRowOf(system, given.needed('account'));
  await checkKeys(system);
  const asked = {
    accountId,
    type: given.needed('type') as RecoveryType,
    actor: given.needed('actor'),
    reason: given.needed('reason'),
    delayMs,
  };
  const caller = await callerOf(runtime.db, platform_id);
  return shown(await operate(runtime, caller, (ctx) => startRecovery(ctx, asked)));
}

async function recoveryOf({ runtime }: System, id: string): Promise<RecoveryRow> {
  const row = isId(id, 'WalletRecovery') ? await runtime.db.read(walletRecoveries, id) : undefined;
  if (!row) throw notFound('recovery');
  return row;
}

async function cancel(system: System, given: Given): Promise<Output> {
  const { runtime } = system;
  const { id, platform_id } = await recoveryOf(system, given.needed('recovery'));
  await checkKeys(system);
  const actor = given.text('actor') ?? 'operator';
  const caller = await callerOf(runtime.db, platform_id);
  const stopped = await operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(walletRecoveries, id);
    if (!row) throw notFound('recovery');
    if (row.status !== 'WAITING') throw new Error(`The recovery is ${row.status}.`);
    return stopRecovery(ctx, row, 'OPERATOR', actor);
  });
  return shown(stopped);
}

async function list(system: System, given: Given): Promise<Output> {
  const wanted = {
    platform_id: await platformIn(system, given),
    status: given.text('status'),
  };
  const filters = equals(wanted);
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await recoveryOf(system, after));
  const query = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const json = (await system.runtime.db.page(walletRecoveries, query)).rows.map(view);
  const heads = ['CREATED', 'RECOVERY', 'ACCOUNT', 'CREDENTIAL', 'STATUS', 'DUE', 'WHO', 'REASON'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [
      each.createdAt,
      each.recoveryId,
      each.accountId,
      each.type,
      each.cancelledFor ? `${each.status} ${each.cancelledFor}` : each.status,
      each.dueAt,
      each.actor,
      each.reason,
    ]),
  );
  return { json, text };
}

export const walletRecoveryVerbs: readonly Verb[] = [
  {
    noun: 'wallet',
    verb: 'recover',
    summary: 'Begin a way back for a user without credentials: announced, and delayed',
    flags: {
      ...ACCOUNT,
      type: {
        value: 'TYPE',
        required: true,
        choices: TYPES,
        help: 'The credential that the wallet is to have',
      },
      actor: { value: 'NAME', required: true, help: 'Who asks for it' },
      reason: { value: 'TEXT', required: true, help: 'Why, for those who look later' },
    },
    bare: 'account',
    run: recover,
  },
  {
    noun: 'wallet',
    verb: 'recoveries',
    summary: 'List ways back that were asked for, latest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Only those of this platform' },
      status: {
        value: 'STATUS',
        choices: Object.keys(walletFeature.states.recovery.moves),
        help: 'Only those in this state',
      },
      ...LIMIT,
      after: { value: 'RECOVERY', help: 'Go on behind this recovery, the last of a list before' },
    },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'wallet',
    verb: 'cancel-recovery',
    summary: 'Stop a way back that waits',
    flags: {
      recovery: { value: 'RECOVERY', required: true, help: 'Id of the recovery' },
      actor: { value: 'NAME', help: 'Who stops it (operator)' },
    },
    bare: 'recovery',
    run: cancel,
  },
];
