// Validates the steps of a fixture before the first call. Rejects unknown operations and parameters,
// duplicate names, references to names of no earlier step, and fields that do not match a schema.
import type { Bound } from '../../../kernel/contract/operation.ts';
import { bodyErrors, fieldErrors, MAX_FIELD_ERRORS } from '../../../kernel/contract/validate.ts';
import { type FieldError, invalid } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type Reference, referencesIn } from './references.ts';
import type { Step } from './step.ts';

type Operation = Bound<Ctx>;

const isInside = (field: string, outerField: string) =>
  outerField === '' || field === outerField || field.startsWith(`${outerField}.`);

/** Errors of a part of a step, except about values that a reference replaces. */
function errorsOfPart(
  part: string,
  errors: readonly FieldError[],
  references: readonly Reference[],
) {
  return errors
    .map((error) => ({ ...error, field: error.field === '' ? part : `${part}.${error.field}` }))
    .filter(({ field }) =>
      references.every((each) => !isInside(field, each.field) && !isInside(each.field, field)),
    );
}

/** Errors of query and body by the schemas of the operation. */
function schemaErrors(
  { contract }: Operation,
  { query = {}, body }: Step,
  references: readonly Reference[],
): FieldError[] {
  const content = body ?? (contract.bodyOptional ? {} : undefined);
  const bodyProblems =
    content === undefined ? [{ field: '', message: 'is required' }] : bodyErrors(contract, content);
  return [
    ...errorsOfPart(
      'query',
      contract.query ? fieldErrors(contract.query, query, 'query') : [],
      references,
    ),
    ...errorsOfPart('body', contract.body ? bodyProblems : [], references),
  ];
}

function paramErrors({ contract }: Operation, { params = {} }: Step): FieldError[] {
  const parameterNames = Object.keys(contract.params?.properties ?? {});
  const absentNames = parameterNames.filter((each) => !(each in params));
  const unknownNames = Object.keys(params).filter((each) => !parameterNames.includes(each));
  return [
    ...absentNames.map((each) => ({ field: `params.${each}`, message: 'is required' })),
    ...unknownNames.map((parameter) => ({
      field: `params.${parameter}`,
      message: 'is not a parameter of the operation',
    })),
  ];
}

/** `agentId` is required for operations of agents and not allowed for others. */
function agentErrors({ contract }: Operation, { agentId }: Step): FieldError[] {
  if ((contract.auth === 'agent') === (agentId !== undefined)) return [];
  const message =
    agentId === undefined ? 'is required' : 'is allowed only for operations of agents';
  return [{ field: 'agentId', message }];
}

function errorsOf(
  step: Step,
  operation: Operation | undefined,
  names: ReadonlySet<string>,
): FieldError[] {
  const { name, operationId, agentId, params, query, body } = step;
  const references = referencesIn({ agentId, params, query, body });
  const unknownReferences = references.filter(
    (each) => each.name !== undefined && !names.has(each.name),
  );
  return [
    ...(name !== undefined && names.has(name)
      ? [{ field: 'name', message: `${name} is used twice` }]
      : []),
    ...(operation
      ? [
          ...agentErrors(operation, step),
          ...paramErrors(operation, step),
          ...schemaErrors(operation, step, references),
        ]
      : [
          {
            field: 'operationId',
            message: `${operationId} is not an operation that a step can call`,
          },
        ]),
    ...unknownReferences.map(({ field, text }) => ({
      field,
      message: `${text} is not a field of an earlier step`,
    })),
  ];
}

/** Throws INVALID_INPUT with the invalid fields of the steps, at most `MAX_FIELD_ERRORS`. */
export function checkSteps(
  steps: readonly Step[],
  operations: ReadonlyMap<string, Operation>,
): void {
  const names = new Set<string>();
  const errors = steps.flatMap((step, index) => {
    const errors = errorsOf(step, operations.get(step.operationId), names);
    if (step.name !== undefined) names.add(step.name);
    return errors.map((each) => ({ ...each, field: `steps.${index}.${each.field}` }));
  });
  if (errors.length) throw invalid(errors.slice(0, MAX_FIELD_ERRORS));
}
