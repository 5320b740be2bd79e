// Schema of a step of a fixture: one call of an operation.
import { type Static, Type } from '@sinclair/typebox';
import { named } from '../../../kernel/schema.ts';

export const MAX_STEPS = 500;

const NAME = '^[A-Za-z][A-Za-z0-9_-]{0,63}$';

export const FixtureStep = named(
  'FixtureStep',
  Type.Object(
    {
      name: Type.Optional(
        Type.String({
          pattern: NAME,
          description:
            'Name of the response, for references in later steps. Unique in the request, ' +
            'including the steps of a built-in `world`.',
        }),
      ),
      operationId: Type.String({
        maxLength: 64,
        description: 'The operation to call, as the caller of the request or as an agent.',
      }),
      agentId: Type.Optional(
        Type.String({
          maxLength: 100,
          description:
            'ID of the agent that makes the call, for operations of agents. Usually `agent.id` ' +
            'of an earlier step. The caller of the request needs the permission of the operation too.',
        }),
      ),
      params: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'Parameters of the path.' }),
      ),
      query: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the query.' }),
      ),
      body: Type.Optional(Type.Unknown({ description: 'The request body.' })),
      mayBeRejected: Type.Optional(
        Type.Boolean({
          description:
            'If true, a rejection of the call does not stop the request. The response of the ' +
            'step is then the error, with `code` and `reason`.',
        }),
      ),
    },
    {
      additionalProperties: false,
      description:
        'A call of an operation. A string `$NAME.FIELD` in `params`, `query`, `body` or ' +
        '`agentId` is replaced by that field of the response with this name. `$$` at the start ' +
        'of a string is a literal dollar sign.',
    },
  ),
);
export type Step = Static<typeof FixtureStep>;
