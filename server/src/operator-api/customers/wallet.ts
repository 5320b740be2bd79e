// Embedded wallets: public keys of the installation, credentials, authorizations and recoveries.
import { Type } from '@sinclair/typebox';
import {
  cancelWalletRecovery,
  requestWalletRecovery,
  searchWalletRecoveries,
  searchWallets,
  signedAuthorizations,
  walletDetails,
  walletFeature,
} from '../../features/wallets/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { MODES } from '../../kernel/mode.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { custodyKeys } from '../installation.ts';
import { listInput, OptionalReason, PlatformFilter, Reason } from '../schemas.ts';

const RECOVERY_STATUSES = Object.keys(walletFeature.states.recovery.transitions);

const TAG = 'Embedded Wallets';

const accountParams = Type.Object({
  accountId: text('ID of the internal account of the wallet.'),
});
const OWNER = {
  platformId: text('Platform of the customer.'),
  customerId: text('Customer who holds the wallet.'),
};

const keys = operation({
  operationId: 'listWalletKeys',
  method: 'GET',
  path: '/wallet-keys',
  tag: TAG,
  summary: 'Get the public keys of embedded wallets',
  description:
    'Returns the public keys that clients must be configured with, by environment. A bundle is the signed ' +
    'JSON that a client receives to encrypt a one-time code or to export a wallet. A token proves that a ' +
    'one-time code was verified. Empty without a custodian of wallet keys.',
  auth: 'operator',
  operatorPermission: 'wallets.read',
  wholeInstallation: true,
  commands: ['wallet keys'],
  replies: {
    200: Type.Object({
      data: Type.Array(
        Type.Object({
          environment: oneOf(MODES, { description: 'Environment of the keys.' }),
          bundles: text('Public key that verifies bundles, in hexadecimal.'),
          tokens: text('Public key that verifies tokens, in hexadecimal.'),
        }),
        { description: 'Keys by environment.' },
      ),
    }),
  },
  errors: [],
});

const RecoveryType = oneOf(['EMAIL_OTP', 'SMS_OTP'], {
  description: 'Type of the new credential of the wallet.',
});
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Wallet = Type.Object({
  accountId: text('ID of the internal account.'),
  ...OWNER,
  status: nullable(
    text('Status of the internal account, such as `ACTIVE`. Null if there is none.'),
  ),
  createdAt: time('Time at which the wallet was created.'),
  credentials: Type.Array(
    Type.Object({
      credentialId: text('ID of the credential.'),
      type: text('Type of the credential: EMAIL_OTP, SMS_OTP, OAUTH or PASSKEY.'),
      createdAt: time('Time at which the credential was added.'),
    }),
    { description: 'Active credentials, oldest first.' },
  ),
  sessions: Type.Array(
    Type.Object({
      sessionId: text('ID of the session.'),
      credentialId: text('Credential that opened the session.'),
      publicKey: text('P-256 public key of the session, in hexadecimal.'),
      authenticatedAt: time('Time of the authentication.'),
      expiresAt: time('Time at which the session expires.'),
    }),
    { description: 'Active sessions, oldest first.' },
  ),
  requests: Type.Object(
    {
      toSign: count('Requests that await a signature.'),
      processing: count('Requests in processing.'),
      settled: count('Results that have not been fetched yet.'),
    },
    { description: 'Number of open requests, by state.' },
  ),
  recovery: nullable(
    Type.Object(
      {
        recoveryId: text('ID of the recovery.'),
        type: RecoveryType,
        dueAt: time('Time at which the recovery is executed.'),
      },
      { description: 'Pending recovery, or null if there is none.' },
    ),
  ),
});

const WalletSummary = named(
  'WalletSummary',
  Type.Object(
    {
      accountId: text('ID of the internal account.'),
      ...OWNER,
      status: nullable(
        text('Status of the internal account, such as `ACTIVE`. Null if there is none.'),
      ),
      credentialTypes: Type.Array(text('Type of a credential.'), {
        description: 'Types of the active credentials. Empty if the wallet has none.',
      }),
      isRecovering: Type.Boolean({ description: 'Whether a recovery is pending.' }),
      createdAt: time('Time at which the wallet was created.'),
    },
    { description: 'An embedded wallet.' },
  ),
);

const list = operation({
  operationId: 'searchWallets',
  method: 'GET',
  path: '/wallets',
  tag: TAG,
  summary: 'List embedded wallets',
  description: 'Returns the wallets that match every filter, newest first.',
  auth: 'operator',
  operatorPermission: 'wallets.read',
  commands: [],
  query: Type.Object({
    customerId: Type.Optional(text('Return only wallets of this customer.')),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'WalletSummaryPage',
      page(WalletSummary, { description: 'A page of embedded wallets, newest first.' }),
    ),
  },
  errors: [],
});

const show = operation({
  operationId: 'getWalletDetails',
  method: 'GET',
  path: '/wallets/{accountId}',
  tag: TAG,
  summary: 'Get an embedded wallet',
  description:
    'Returns the credentials and sessions of a wallet, the number of its open requests by state, ' +
    'and its pending recovery.',
  auth: 'operator',
  operatorPermission: 'wallets.read',
  commands: ['wallet show'],
  params: accountParams,
  replies: { 200: Wallet },
  errors: [],
  notFound: 'NOT_FOUND',
});

const AUTHORIZATION = {
  authorizationId: text('ID of the authorization.'),
  ...OWNER,
  createdAt: time('Time of the signature.'),
  operation: text('Operation that was signed, such as `exportInternalAccount`.'),
  subject: text('ID of the resource of the operation.'),
  sessionId: nullable(text('Session that signed, or null if there is none.')),
  publicKey: text('Key that signed. Empty for a test signature in the sandbox.'),
};

const listAuthorizations = operation({
  operationId: 'listWalletAuthorizations',
  method: 'GET',
  path: '/wallets/{accountId}/authorizations',
  tag: TAG,
  summary: 'List the authorizations of an embedded wallet',
  description: 'Returns the signatures of a wallet and their keys, newest first.',
  auth: 'operator',
  operatorPermission: 'wallets.read',
  commands: ['wallet authorizations'],
  params: accountParams,
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'WalletAuthorizationPage',
      page(
        named(
          'WalletAuthorization',
          Type.Object(AUTHORIZATION, {
            description:
              'Signature of a wallet holder for an operation, and the key that created it.',
          }),
        ),
        { description: 'A page of signatures of a wallet and their keys, newest first.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

const showAuthorization = operation({
  operationId: 'getWalletAuthorization',
  method: 'GET',
  path: '/wallet-authorizations/{authorizationId}',
  tag: TAG,
  summary: 'Get an authorization',
  description:
    'Returns an authorization with its stamp and the signed text, as evidence in a dispute. The ' +
    'text is personal data, so this request is recorded.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['wallet authorization'],
  params: Type.Object({ authorizationId: text('ID of the authorization.') }),
  replies: {
    200: Type.Object({
      ...AUTHORIZATION,
      accountId: text('ID of the internal account.'),
      stamp: text('Signature with its scheme and public key, as JSON in base64url.'),
      payload: nullable(text('Signed text, or null after an erasure.')),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

const Recovery = named(
  'WalletRecovery',
  Type.Object(
    {
      recoveryId: text('ID of the recovery.'),
      ...OWNER,
      accountId: text('ID of the internal account.'),
      type: RecoveryType,
      status: oneOf(RECOVERY_STATUSES, {
        description:
          'WAITING: executed at `dueAt` unless canceled. DONE: executed. CANCELLED: canceled.',
      }),
      actor: text('Operator who requested the recovery.'),
      reason: text('Reason for the recovery.'),
      cancelledFor: nullable(
        text('Reason for the cancellation, or null if the recovery was not canceled.'),
      ),
      cancelledBy: nullable(
        text('Operator who canceled the recovery, or null if no operator canceled it.'),
      ),
      createdAt: time('Time of the request.'),
      dueAt: time('Time at which the recovery is executed.'),
      endedAt: nullable(
        time('Time at which the recovery was executed or canceled, or null until then.'),
      ),
    },
    { description: 'The delayed recovery of a wallet for a user without credentials.' },
  ),
);

const recover = operation({
  operationId: 'startWalletRecovery',
  method: 'POST',
  path: '/wallets/{accountId}/recoveries',
  tag: TAG,
  summary: 'Start the recovery of a wallet',
  description:
    'Starts the delayed recovery of a wallet for a user who lost every credential. Each contact ' +
    'of the user is notified. Recovery is disabled unless the installation sets its waiting ' +
    'period, 24 to 720 hours.',
  auth: 'operator',
  operatorPermission: 'wallets.manage',
  commands: ['wallet recover'],
  params: accountParams,
  body: Type.Object({ type: RecoveryType, reason: Reason }),
  replies: { 201: Recovery },
  // The recovery is disabled or not needed.
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const listRecoveries = operation({
  operationId: 'listWalletRecoveries',
  method: 'GET',
  path: '/wallet-recoveries',
  tag: TAG,
  summary: 'List account recoveries',
  description: 'Returns the recoveries of wallets, newest first.',
  auth: 'operator',
  operatorPermission: 'wallets.read',
  commands: ['wallet recoveries'],
  query: Type.Object({
    status: Type.Optional(
      oneOf(RECOVERY_STATUSES, { description: 'Return only recoveries with this status.' }),
    ),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'WalletRecoveryPage',
      page(Recovery, { description: 'A page of account recoveries of wallets, newest first.' }),
    ),
  },
  errors: [],
});

const cancel = operation({
  operationId: 'cancelWalletRecovery',
  method: 'POST',
  path: '/wallet-recoveries/{recoveryId}/cancel',
  tag: TAG,
  summary: 'Cancel a pending recovery',
  description: 'Cancels a recovery that has not been executed.',
  auth: 'operator',
  operatorPermission: 'wallets.manage',
  commands: ['wallet cancel-recovery'],
  params: Type.Object({ recoveryId: text('ID of the recovery.') }),
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: Recovery },
  // The recovery is not pending.
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const RECOVERY_DISABLED =
  'Account recovery is disabled. Set RAILHEAD_WALLET_RECOVERY to the waiting period in hours.';

export const walletOperations = [
  operatorHandle(keys, async ({ installation }) => ({
    status: 200,
    body: { data: custodyKeys(installation.connectorsOf) },
  })),
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchWallets(installation.runtime, listInput(query)),
  })),
  operatorHandle(show, async ({ installation }, { params: { accountId } }) => ({
    status: 200,
    body: await walletDetails(installation.runtime, accountId),
  })),
  operatorHandle(listAuthorizations, async ({ installation }, { params, query }) => ({
    status: 200,
    body: await signedAuthorizations.page(installation.runtime, { ...listInput(query), ...params }),
  })),
  operatorHandle(showAuthorization, async ({ installation }, { params: { authorizationId } }) => ({
    status: 200,
    body: await signedAuthorizations.details(installation.runtime, authorizationId),
  })),
  operatorHandle(recover, async ({ installation, operator }, { params: { accountId }, body }) => {
    const { runtime, walletRecoveryMs: delayMs } = installation;
    if (delayMs === undefined) throw new Fault('CONFLICT', RECOVERY_DISABLED);
    const input = { ...body, accountId, actor: operator.name, delayMs };
    return { status: 201, body: await requestWalletRecovery(runtime, input) };
  }),
  operatorHandle(listRecoveries, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchWalletRecoveries(installation.runtime, listInput(query)),
  })),
  operatorHandle(cancel, async ({ installation, operator }, { params: { recoveryId } }) => {
    const input = { recoveryId, actor: operator.name };
    return { status: 200, body: await cancelWalletRecovery(installation.runtime, input) };
  }),
];
