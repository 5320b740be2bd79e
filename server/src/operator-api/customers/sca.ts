// Strong customer authentication: lockouts, factors, events, and decisions about lost factors.
import { type Static, Type } from '@sinclair/typebox';
import {
  decideFactorReset,
  ScaFactor,
  scaDetails,
  scaFeature,
  searchFactorResets,
} from '../../features/sca/authentication/index.ts';
import { listScaEvents } from '../../features/sca/events/index.ts';
import { unlockByOperator } from '../../features/sca/lockout/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { listInput, PlatformFilter, Reason } from '../schemas.ts';

const RESET_STATUSES = Object.keys(scaFeature.states.reset.transitions);

const TAG = 'Strong Customer Authentication';

const CUSTOMER = {
  customerId: text('ID of the customer.'),
  platformId: text('Platform of the customer.'),
};
const Reset = named(
  'OperatorFactorReset',
  Type.Object(
    {
      resetId: text('ID of the reset.'),
      ...CUSTOMER,
      factor: ScaFactor,
      status: oneOf(RESET_STATUSES, {
        description:
          'INITIATED: waits for the liveness check. PENDING_REVIEW: waits for an operator. ' +
          'LIVENESS_PASSED: can be completed. COMPLETED: the factor is reset. REJECTED: the ' +
          'identity was not confirmed. EXPIRED: not completed in time, or replaced.',
      }),
      createdAt: time('Time of the request.'),
      expiresAt: time('Time at which the reset expires.'),
      completedAt: nullable(time('Time at which the factor was removed, or null until then.')),
    },
    { description: 'The removal of a lost factor.' },
  ),
);
const LOCKOUT = {
  suspended: Type.Boolean({
    description: 'Whether the lockout lasts until a password reset or an unlock by an operator.',
  }),
  lockedUntil: nullable(
    time('Time at which the lockout expires, or null without a lockout or if suspended.'),
  ),
  failedAttempts: Type.Integer({
    description: 'Failed attempts since the last password reset or unlock.',
  }),
};
const customerParams = Type.Object({ customerId: text('ID of the customer.') });
const resetParams = Type.Object({ resetId: text('ID of the reset.') });
const Body = Type.Object({ reason: Reason });

const listResets = operation({
  operationId: 'listFactorResets',
  method: 'GET',
  path: '/factor-resets',
  tag: TAG,
  summary: 'List resets of lost factors',
  description: 'Returns the factor resets that match the filter, oldest first.',
  auth: 'operator',
  operatorPermission: 'authentication.read',
  oldestFirst: true,
  commands: ['sca resets'],
  query: Type.Object({
    status: Type.Optional(
      oneOf(RESET_STATUSES, {
        default: 'PENDING_REVIEW',
        description: 'Return only resets with this status. Defaults to those awaiting a decision.',
      }),
    ),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorFactorResetPage',
      page(Reset, { description: 'A page of resets of lost factors, oldest first.' }),
    ),
  },
  errors: [],
});

const DECISION = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'authentication.manage',
  params: resetParams,
  body: Body,
  replies: { 200: Reset },
  errors: ['CUSTOMER_DELETED'],
  notFound: 'NOT_FOUND',
} as const;

const pass = operation({
  ...DECISION,
  operationId: 'passFactorReset',
  path: '/factor-resets/{resetId}/pass',
  summary: 'Pass a factor reset',
  description:
    'Records that the identity of the customer was verified, so that the factor may be removed. ' +
    'The reset expires unless it is completed within 24 hours.',
  commands: ['sca pass-reset'],
});

const reject = operation({
  ...DECISION,
  operationId: 'rejectFactorReset',
  path: '/factor-resets/{resetId}/reject',
  summary: 'Reject a factor reset',
  description: 'Records that the request did not come from the customer.',
  commands: ['sca reject-reset'],
});

const Factor = Type.Object({
  factor: ScaFactor,
  factorId: nullable(text('ID of the factor, or null for SMS_OTP.')),
  enrolledAt: nullable(time('Time of the enrollment, or null for SMS_OTP.')),
  recoveryCodesLeft: nullable(
    Type.Integer({ description: 'Unused recovery codes of TOTP, or null for other factors.' }),
  ),
});

const show = operation({
  operationId: 'getCustomerAuthentication',
  method: 'GET',
  path: '/customers/{customerId}/authentication',
  tag: TAG,
  summary: 'Get the authentication of a customer',
  description:
    'Returns factors, failures, lockout, session, open resets and trusted accounts. Secrets of ' +
    'factors are never shown.',
  auth: 'operator',
  operatorPermission: 'authentication.read',
  commands: ['sca show'],
  params: customerParams,
  replies: {
    200: Type.Object({
      ...CUSTOMER,
      isUnderSca: Type.Boolean({ description: 'Whether strong customer authentication applies.' }),
      ...LOCKOUT,
      sessionExpiresAt: nullable(
        time('Time at which the session expires, or null if there is no session.'),
      ),
      factors: Type.Array(Factor, { description: 'Enrolled factors.' }),
      openResets: Type.Array(Reset, {
        description: 'Resets that are INITIATED, PENDING_REVIEW or LIVENESS_PASSED.',
      }),
      trustedAccounts: Type.Array(
        Type.Object({
          accountId: text('ID of the external account.'),
          trustedAt: nullable(
            time('Time since which the account is trusted. Never null in this list.'),
          ),
        }),
        { description: 'External accounts that the customer trusts.' },
      ),
    }),
  },
  errors: [],
  notFound: 'CUSTOMER_NOT_FOUND',
});

const unlock = operation({
  operationId: 'unlockCustomer',
  method: 'POST',
  path: '/customers/{customerId}/unlock',
  tag: TAG,
  summary: 'Unlock a customer',
  description: 'Resets the failures of a customer, and ends a lockout or suspension.',
  auth: 'operator',
  operatorPermission: 'authentication.manage',
  commands: ['sca unlock'],
  params: customerParams,
  body: Body,
  replies: { 200: Type.Object({ customerId: CUSTOMER.customerId, ...LOCKOUT }) },
  errors: ['CUSTOMER_DELETED'],
  notFound: 'CUSTOMER_NOT_FOUND',
});

const ScaEvent = named(
  'OperatorAuthenticationEvent',
  Type.Object(
    {
      eventId: text('ID of the event.'),
      ...CUSTOMER,
      createdAt: time('Time of the event.'),
      type: text('Type of the event, such as `LOGIN_FAILED`.'),
      factor: nullable(
        text(
          'Authentication factor (`SMS_OTP`, `TOTP` or `PASSKEY`), or null if the event is not about ' +
            'a factor.',
        ),
      ),
      subject: nullable(
        text('ID of the challenge, payment, account, factor or reset, or null if there is none.'),
      ),
      ipAddress: nullable(
        text('IP address of the customer, or null if none was reported, or after an erasure.'),
      ),
      actor: nullable(text('Operator who acted, or null if no operator acted.')),
      reason: nullable(text('Reason stated by the operator, or null if no operator acted.')),
    },
    { description: 'An event of strong customer authentication.' },
  ),
);

const listEvents = operation({
  operationId: 'listAuthenticationEvents',
  method: 'GET',
  path: '/customers/{customerId}/authentication-events',
  tag: TAG,
  summary: 'List authentication events',
  description:
    'Returns the events of a customer, newest first. The events contain IP addresses, so this ' +
    'request is recorded.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['sca events'],
  params: customerParams,
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'OperatorAuthenticationEventPage',
      page(ScaEvent, {
        description: 'A page of authentication events of a customer, newest first.',
      }),
    ),
  },
  errors: [],
  notFound: 'CUSTOMER_NOT_FOUND',
});

interface DecisionInput {
  params: Static<typeof resetParams>;
  body: Static<typeof Body>;
}

const decider =
  (decision: 'pass' | 'reject') =>
  async ({ installation, operator }: OperatorCall, { params, body }: DecisionInput) => {
    const actor = { actor: operator.name, reason: body.reason };
    const input = { resetId: params.resetId, decision, by: actor };
    return { status: 200 as const, body: await decideFactorReset(installation.runtime, input) };
  };

export const scaOperations = [
  operatorHandle(listResets, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchFactorResets(installation.runtime, {
      ...listInput(query),
      status: query.status ?? 'PENDING_REVIEW',
    }),
  })),
  operatorHandle(pass, decider('pass')),
  operatorHandle(reject, decider('reject')),
  operatorHandle(show, async ({ installation }, { params: { customerId } }) => ({
    status: 200,
    body: await scaDetails(installation.runtime, customerId),
  })),
  operatorHandle(unlock, async ({ installation, operator }, { params, body }) => {
    const actor = { actor: operator.name, reason: body.reason };
    const input = { customerId: params.customerId, by: actor };
    return { status: 200, body: await unlockByOperator(installation.runtime, input) };
  }),
  operatorHandle(listEvents, async ({ installation }, { params: { customerId }, query }) => ({
    status: 200,
    body: await listScaEvents(installation.runtime, { ...listInput(query), customerId }),
  })),
];
