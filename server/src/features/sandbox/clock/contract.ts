// Contracts of the clock of a sandbox platform.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { NO_QUERY, named } from '../../../kernel/schema.ts';
import { changeErrors } from './target.ts';

const SandboxClock = named(
  'SandboxClock',
  Type.Object(
    {
      currentTime: Type.String({
        format: 'date-time',
        description: 'Time of the platform. Timestamps of resources and events follow it.',
      }),
      frozen: Type.Boolean({
        description:
          'Whether the clock is stopped. A clock that is not frozen advances in real time.',
      }),
      target: Type.Optional(
        Type.String({
          format: 'date-time',
          description:
            'Requested time of the latest change, if the clock stopped before that time. The ' +
            'clock stops early if more is due than one request can execute, or if the request ' +
            'is interrupted. Send `target` as `to` to continue.',
        }),
      ),
      processed: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            'Number of steps and webhook deliveries that became due and were executed. Absent ' +
            'when the clock is only read.',
        }),
      ),
    },
    { description: 'The clock of a sandbox platform.' },
  ),
);

export const getSandboxClock = operation({
  operationId: 'getSandboxClock',
  method: 'GET',
  path: '/sandbox/clock',
  tag: 'Sandbox Clock',
  summary: 'Get the clock',
  description:
    'Returns the time of the platform. The clock shows real time until the platform changes it ' +
    'for the first time.',
  permission: 'VIEW',
  query: NO_QUERY,
  sandboxOnly: true,
  replies: { 200: SandboxClock },
  errors: [],
});

export const updateSandboxClock = operation({
  operationId: 'updateSandboxClock',
  method: 'POST',
  path: '/sandbox/clock',
  tag: 'Sandbox Clock',
  summary: 'Change the clock',
  description:
    'Advances the clock of the platform, by a duration or to an instant, and freezes or ' +
    'unfreezes it. All work that is due on the platform by then is executed in ' +
    'chronological order before the reply is sent. For example, quotes expire, payments ' +
    'complete or are returned, and webhooks are delivered and retried. If an endpoint does not ' +
    'respond within two seconds, the remaining deliveries follow after the reply. If more is ' +
    'due than one request can execute (10,000 steps or 25 seconds), the clock stops before the ' +
    'requested time and the reply has `target`. Other platforms are not affected. Rate limits, ' +
    'timeouts, retention periods, identity tokens and the `webhook-timestamp` header follow ' +
    'real time.',
  permission: 'MANAGE',
  query: NO_QUERY,
  sandboxOnly: true,
  callsExternal: true,
  body: named(
    'SandboxClockChange',
    Type.Object(
      {
        advance: Type.Optional(
          Type.String({
            maxLength: 64,
            description:
              'Duration by which to advance the clock, as an ISO 8601 duration such as `P2D` or ' +
              '`PT6M`. At most two years. `PT0S` executes only work that is already due.',
          }),
        ),
        to: Type.Optional(
          Type.String({
            format: 'date-time',
            description:
              'New time of the clock: not before its current time and at most two years ' +
              'after it. Cannot be combined with `advance`.',
          }),
        ),
        freeze: Type.Optional(
          Type.Boolean({
            description: 'Whether the clock is stopped afterwards. Unchanged if absent.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description: 'A change of the clock. At least one field is required.',
      },
    ),
  ),
  bodyRules: changeErrors,
  replies: { 200: SandboxClock },
  errors: [],
});
