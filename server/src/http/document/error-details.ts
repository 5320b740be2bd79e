// Schemas of `details`, the additional data of an error, by status. Limits have their unit.
import { type TSchema, Type } from '@sinclair/typebox';
import { MAX_FIELD_ERRORS } from '../../kernel/contract/validate.ts';
import { named, withDescription } from '../../kernel/schema.ts';

const FieldErrorSchema = named(
  'FieldError',
  Type.Object(
    {
      field: Type.String({
        description:
          'Path of the field in the request, with dots between its parts, such as ' +
          '`address.country`. Empty for the complete body.',
      }),
      constraint: Type.Optional(
        Type.Object(
          {
            format: Type.Optional(Type.String({ description: 'Name of the required format.' })),
            pattern: Type.Optional(Type.String({ description: 'Regular expression to match.' })),
            enum: Type.Optional(Type.Array(Type.String(), { description: 'Accepted values.' })),
            minLength: Type.Optional(
              Type.Integer({ description: 'Minimum length in characters.' }),
            ),
            maxLength: Type.Optional(
              Type.Integer({ description: 'Maximum length in characters.' }),
            ),
          },
          {
            description:
              'Constraint that the value violates, in machine-readable form. Absent if ' +
              'none applies.',
          },
        ),
      ),
      message: Type.String({ description: 'Description of the violation, in English.' }),
    },
    { description: 'A field of the request that was rejected.' },
  ),
);

const maximum = (description: string) => Type.Optional(Type.Integer({ description }));

/** The schema of `details` of all errors with this status. */
export function detailsOf(status: number): TSchema {
  const openObject = {
    additionalProperties: true,
    description: 'Additional data about the error, if any.',
  };
  if (status === 400) {
    const errors = Type.Array(FieldErrorSchema, {
      description: `Rejected fields, at most ${MAX_FIELD_ERRORS}.`,
    });
    const max = maximum(
      'Largest amount of one payment, in minor units. Present for TRANSACTION_SIZE_LIMIT_EXCEEDED.',
    );
    return Type.Object({ errors: Type.Optional(errors), max }, openObject);
  }
  if (status === 403) {
    const max = maximum(
      'Maximum payments of a customer per hour. Present for VELOCITY_LIMIT_EXCEEDED.',
    );
    return Type.Object({ max }, openObject);
  }
  if (status === 429) {
    const max = maximum(
      'Daily limit, in minor units of the currency that the message names. Present for ' +
        'DAILY_VOLUME_LIMIT_EXCEEDED.',
    );
    return Type.Object({ max }, openObject);
  }
  if (status === 423) {
    const time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
    return Type.Object(
      {
        suspended: Type.Optional(
          Type.Boolean({
            description:
              'Whether the customer is suspended until a password reset or an unlock by the operator.',
          }),
        ),
        lockedUntil: Type.Optional(
          withDescription(
            time,
            'Time at which the lockout expires. Null if the customer is suspended.',
          ),
        ),
        failedAttempts: Type.Optional(
          Type.Integer({
            description:
              'Number of failed attempts since the last password reset or unlock by the operator.',
          }),
        ),
      },
      openObject,
    );
  }
  return Type.Object({}, openObject);
}
