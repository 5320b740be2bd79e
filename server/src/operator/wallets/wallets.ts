// `wallet keys|show|authorizations|authorization|recover|recoveries|cancel-recovery`: embedded
// wallets. The published client libraries pin the public keys of another installation unless
// configured with the keys that `keys` prints. Account recovery is disabled unless the installation
// sets its waiting period.

import {
  cancelWalletRecovery,
  requestWalletRecovery,
  searchWalletRecoveries,
  signedAuthorizations,
  walletDetails,
  walletFeature,
} from '../../features/wallets/index.ts';
import { custodyKeys } from '../../operator-api/installation.ts';
import { checkSigningKeys } from '../../runtime/security/keys.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

type WalletRecovery = Awaited<ReturnType<typeof cancelWalletRecovery>>;

/** Keys, messages and digests created with another master key than the server's are invalid. */
const checkKeys = ({ runtime }: System) => checkSigningKeys(runtime);

async function showKeys(system: System): Promise<Output> {
  await checkKeys(system);
  const allKeys = custodyKeys(system.connectorsOf);
  const text = allKeys
    .map(({ environment, bundles, tokens }) =>
      record([
        ['Environment', environment],
        ['Bundles', bundles],
        ['Tokens', tokens],
      ]),
    )
    .join('\n');
  return {
    json: allKeys,
    text: text || 'None: this installation has no custodian of wallet keys.\n',
  };
}

async function show({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await walletDetails(runtime, args.required('account'));
  const { requests, recovery } = json;
  const summary = record([
    ['Account', json.accountId],
    ['Platform', json.platformId],
    ['Customer', json.customerId],
    ['Status', json.status ?? 'none'],
    ['Created', json.createdAt],
    ['Awaiting signature', String(requests.toSign)],
    ['Processing', String(requests.processing)],
    ['Results to fetch', String(requests.settled)],
    ['Account recovery', recovery ? `${recovery.recoveryId}, due ${recovery.dueAt}` : 'none'],
  ]);
  const credentialTable = table(
    ['CREDENTIAL', 'TYPE', 'CREATED'],
    json.credentials.map((each) => [each.credentialId, each.type, each.createdAt]),
  );
  const sessionTable = table(
    ['SESSION', 'CREDENTIAL', 'AUTHENTICATED', 'EXPIRES'],
    json.sessions.map((each) => [
      each.sessionId,
      each.credentialId,
      each.authenticatedAt,
      each.expiresAt,
    ]),
  );
  const tables = `Credentials\n${credentialTable}\nSessions\n${sessionTable}`;
  return { json, text: `${summary}\n${tables}` };
}

async function listAuthorizations({ runtime }: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await signedAuthorizations.page(runtime, {
    accountId: args.required('account'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    ['SIGNED', 'AUTHORIZATION', 'OPERATION', 'ABOUT', 'SESSION', 'KEY'],
    json.map((each) => [
      each.createdAt,
      each.authorizationId,
      each.operation,
      each.subject,
      each.sessionId ?? '-',
      // A scripted signature of the sandbox has no public key without a session.
      each.publicKey || '-',
    ]),
  );
  return { json, text };
}

/** A signature with its full payload, as evidence in a dispute. */
async function showAuthorization({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await signedAuthorizations.details(runtime, args.required('authorization'));
  const text = record([
    ['Authorization', json.authorizationId],
    ['Signed', json.createdAt],
    ['Account', json.accountId],
    ['Operation', json.operation],
    ['About', json.subject],
    ['Session', json.sessionId ?? '-'],
    ['Key', json.publicKey || '-'],
    ['Stamp', json.stamp],
    ['Text', json.payload ?? 'erased'],
  ]);
  return { json, text };
}

const TYPES: readonly WalletRecovery['type'][] = ['EMAIL_OTP', 'SMS_OTP'];

const RECOVERY_DISABLED =
  'Account recovery is disabled. Set RAILHEAD_WALLET_RECOVERY to the waiting period in hours, for ' +
  'this command and for the server.';

function outputOf(json: WalletRecovery): Output {
  const cancelReason = json.cancelledFor ?? '';
  const text = record([
    ['Recovery', json.recoveryId],
    ['Account', json.accountId],
    ['Credential', json.type],
    ['Status', cancelReason ? `${json.status}, ${cancelReason}` : json.status],
    ['Requested by', json.actor],
    ['Reason', json.reason],
    ['Due', json.dueAt],
  ]);
  return { json, text };
}

async function recover(system: System, args: CommandArgs): Promise<Output> {
  const { runtime, walletRecoveryMs: delayMs } = system;
  if (delayMs === undefined) throw new Error(RECOVERY_DISABLED);
  await checkKeys(system);
  const recovery = await requestWalletRecovery(runtime, {
    accountId: args.required('account'),
    type: args.required('type') as WalletRecovery['type'],
    actor: args.required('actor'),
    reason: args.required('reason'),
    delayMs,
  });
  return outputOf(recovery);
}

async function cancel(system: System, args: CommandArgs): Promise<Output> {
  await checkKeys(system);
  const input = {
    recoveryId: args.required('recovery'),
    actor: args.text('actor') ?? 'operator',
  };
  return outputOf(await cancelWalletRecovery(system.runtime, input));
}

async function listRecoveries(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchWalletRecoveries(system.runtime, {
    platformId: await platformIn(system, args),
    status: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    ['CREATED', 'RECOVERY', 'ACCOUNT', 'CREDENTIAL', 'STATUS', 'DUE', 'ACTOR', 'REASON'],
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

const ACCOUNT: Flags = {
  account: { value: 'ACCOUNT', required: true, help: "ID of the wallet's internal account" },
};

export const walletVerbs: readonly Verb[] = [
  {
    noun: 'wallet',
    verb: 'keys',
    summary: 'Show the public keys that verify bundles and tokens of embedded wallets',
    flags: {},
    run: showKeys,
  },
  {
    noun: 'wallet',
    verb: 'show',
    summary: 'Show the credentials of an embedded wallet and its pending requests',
    flags: ACCOUNT,
    positional: 'account',
    run: show,
  },
  {
    noun: 'wallet',
    verb: 'authorizations',
    summary: 'List the authorizations of an embedded wallet and their keys, newest first',
    flags: {
      ...ACCOUNT,
      ...LIMIT,
      after: {
        value: 'AUTHORIZATION',
        help: 'Continue after this authorization, the last of the previous list',
      },
    },
    positional: 'account',
    run: listAuthorizations,
  },
  {
    noun: 'wallet',
    verb: 'authorization',
    summary: 'Show an authorization with its stamp and the signed text',
    flags: {
      authorization: { value: 'AUTHORIZATION', required: true, help: 'ID of the authorization' },
    },
    positional: 'authorization',
    run: showAuthorization,
  },
  {
    noun: 'wallet',
    verb: 'recover',
    summary: 'Start the delayed recovery of a wallet for a user without credentials',
    flags: {
      ...ACCOUNT,
      type: {
        value: 'TYPE',
        required: true,
        choices: TYPES,
        help: 'Type of the new credential of the wallet',
      },
      actor: {
        value: 'NAME',
        required: true,
        help: 'Name of the person who requests the recovery',
      },
      reason: { value: 'TEXT', required: true, help: 'Reason, stored with the recovery' },
    },
    positional: 'account',
    run: recover,
  },
  {
    noun: 'wallet',
    verb: 'recoveries',
    summary: 'List account recoveries, newest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      status: {
        value: 'STATUS',
        choices: Object.keys(walletFeature.states.recovery.transitions),
        help: 'Filter by state (default: all)',
      },
      ...LIMIT,
      after: {
        value: 'RECOVERY',
        help: 'Continue after this recovery, the last of the previous list',
      },
    },
    positional: 'platform',
    run: listRecoveries,
  },
  {
    noun: 'wallet',
    verb: 'cancel-recovery',
    summary: 'Cancel a pending account recovery',
    flags: {
      recovery: { value: 'RECOVERY', required: true, help: 'ID of the recovery' },
      actor: { value: 'NAME', help: 'Name of the person who cancels (default: operator)' },
    },
    positional: 'recovery',
    run: cancel,
  },
];
