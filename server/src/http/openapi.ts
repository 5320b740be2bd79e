// The OpenAPI 3.1 document, generated from the contracts, the recorded examples and the error guide. Error
// bodies have one schema for each status with every code of that status. An operation restricts the schema
// to its own codes.
import { type TSchema, Type } from '@sinclair/typebox';
import type { Naming } from '../catalog/naming.ts';
import { type WebhookContract, WebhookType } from '../kernel/contract/event.ts';
import { type Contract, idempotencyOf } from '../kernel/contract/operation.ts';
import { type Code, Fault, STATUS_OF } from '../kernel/fault.ts';
import {
  named,
  oneOf,
  REF,
  subsetOf,
  Timestamp,
  toOpenApi,
  withDescription,
} from '../kernel/schema.ts';
import { detailsOf } from './document/error-details.ts';
import { type DocumentHead, PLATFORM_HEAD } from './document/head.ts';
import { headersOf, keyParameterOf, SIGNED_RETRY } from './document/headers.ts';
import {
  type ErrorBody,
  type Examples,
  type Exchange,
  OPERATION_CODES,
  parameterExample,
  replyExamples,
  requestExamples,
  webhookExamples,
} from './examples.ts';
import { faultBody } from './fault-body.ts';
import { documentedCodesOf, returnedCodesOf } from './operation/errors.ts';
import { codesText, notesOf, webhookNotesOf } from './operation/notes.ts';
import { withSchemaDescription } from './tags.ts';

type Json = Record<string, unknown>;

const STATUS_TEXT: Record<number, string> = {
  200: 'The request succeeded.',
  201: 'The resource was created.',
  202: 'The request was accepted. Processing continues, or a further step is required.',
  204: 'The request succeeded. The reply has no body.',
  400: 'The request is invalid or cannot be executed as it is. Correct it before sending it again.',
  401: 'The credential or signature is missing or invalid.',
  403: 'The credential, the customer or a limit does not permit the request.',
  404: 'Resource not found.',
  405: 'The path does not support this HTTP method.',
  409: 'The request conflicts with the current state of the resource.',
  410: 'The resource is no longer available.',
  412: 'The counterparty supports no common protocol version.',
  423: 'The customer is locked or suspended after too many failed attempts.',
  424: 'A request to another institution failed.',
  429: 'A limit was exceeded. Wait before sending the request again.',
  500: 'An internal error occurred.',
  501: 'The function is not supported.',
  503: 'The service is temporarily unavailable. Retry the request.',
};

/** The body of every reply with this error status. */
export function errorSchema(status: number, naming: Naming): TSchema {
  const codes = (Object.keys(STATUS_OF) as Code[]).filter((code) => STATUS_OF[code] === status);
  return named(
    `Error${status}`,
    Type.Object(
      {
        status: Type.Unsafe<number>({
          type: 'integer',
          enum: [status],
          description: 'HTTP status code.',
        }),
        code: oneOf(
          codes.map((code) => naming.code(code)),
          { description: 'Machine-readable error code.' },
        ),
        reason: Type.String({
          description:
            'Description of the error and, if it is not obvious, its remedy. Human-readable. ' +
            'Do not parse it.',
        }),
        message: Type.String({ description: 'Same text as `reason`.' }),
        details: Type.Optional(detailsOf(status)),
      },
      { description: STATUS_TEXT[status] ?? '' },
    ),
  );
}

function parametersOf(schema: TSchema | undefined, location: string, components: Json): Json[] {
  const required = new Set((schema?.required ?? []) as string[]);
  return Object.entries((schema?.properties ?? {}) as Record<string, TSchema>).map(
    ([name, property]) => {
      const { description, ...rest } = toOpenApi(property, components) as Json;
      return {
        name,
        in: location,
        required: location === 'path' || required.has(name),
        ...(description ? { description } : {}),
        schema: rest,
      };
    },
  );
}

const contentOf = (
  schema: TSchema,
  components: Json,
  examples: Json = {},
  type = 'application/json',
) => ({ [type]: { schema: toOpenApi(schema, components), ...examples } });

/** The exchanges of an operation among the examples. */
const exchangesOf = ({ operationId }: Contract, { examples }: Document): Exchange[] =>
  examples.exchanges.filter((each) => each.operationId === operationId);

/** Description of a successful reply. An operator receives 202 only for a request that requires approval. */
const replyTextOf = ({ auth }: Contract, status: number): string | undefined =>
  auth === 'operator' && status === 202
    ? 'Returned if the request requires an approval. The request was not executed. A second operator ' +
      'approves or rejects it before `expiresAt`.'
    : STATUS_TEXT[status];

function securityOf({ permission, auth }: Contract): Json[] {
  if (auth === 'operator') return [{ OperatorAuth: [] }, { OperatorSession: [] }];
  if (!permission) return [];
  return [auth === 'agent' ? { AgentAuth: [] } : { BasicAuth: [] }];
}

interface Document {
  naming: Naming;
  components: Json;
  /** Error replies that operations share. */
  responses: Json;
  /** The schema of each error status, created once. */
  errors: Map<number, TSchema>;
  examples: Examples;
  errorGuide: DocumentHead['errorGuide'];
}

/** The body of an error, restricted to these codes of its status. */
function errorOf(status: number, codes: readonly Code[], document: Document): Json {
  const { naming, errors, components, errorGuide } = document;
  const schema = errors.get(status) ?? errorSchema(status, naming);
  errors.set(status, schema);
  const names = codes.map((code) => naming.code(code));
  const [firstCode, ...otherCodes] = codes;
  const hasSingleCode = firstCode !== undefined && otherCodes.length === 0;
  const description = hasSingleCode
    ? `Always \`${names[0]}\`.`
    : `Codes that the operation returns with the status ${status}.`;
  const ownCodes = { properties: { code: { enum: names, description } } };
  const restrictedSchema = { allOf: [toOpenApi(schema, components), ownCodes] };
  if (!hasSingleCode) return restrictedSchema;
  // Most operations have one code of a status, and many have the same code.
  const name = errorName(firstCode);
  components[name] = { description: errorGuide[firstCode].cause, ...restrictedSchema };
  return { $ref: `${REF}${name}` };
}

const RESPONSE_REF = '#/components/responses/';
const EXAMPLE_REF = '#/components/examples/';

/**
 * The example of each code. A code that the operation never returns has none. Examples that do not
 * depend on the operation are shared.
 */
function errorExamples(
  contract: Contract,
  codes: readonly Code[],
  { naming, errorGuide, examples }: Document,
): Json {
  const bodies = examples.operationErrors[contract.operationId];
  const returnedCodes = returnedCodesOf(contract);
  const exampleOf = (code: Code) =>
    OPERATION_CODES.includes(code)
      ? errorExample(code, bodies?.[code] ?? { reason: errorGuide[code].cause }, naming)
      : { $ref: `${EXAMPLE_REF}${naming.code(code)}` };
  return Object.fromEntries(
    codes
      .filter((code) => returnedCodes.includes(code))
      .map((code) => [naming.code(code), exampleOf(code)]),
  );
}

const errorExample = (code: Code, { reason, details }: ErrorBody, naming: Naming): Json => ({
  summary: naming.code(code),
  value: faultBody(naming, new Fault(code, reason, details)),
});

/** The recorded body of each code. A code without a recorded body has its cause as the reason. */
function errorBodies(
  contracts: readonly Contract[],
  { naming, errorGuide, examples }: Document,
): Json {
  const recordedBodies = new Map(examples.errors.map(({ code, body }) => [code, body]));
  const documentedContracts = contracts.filter(({ auth }) => auth !== 'hosted');
  const returnedCodes = new Set(documentedContracts.flatMap(returnedCodesOf));
  const sharedCodes = (Object.keys(STATUS_OF) as Code[]).filter(
    (code) => returnedCodes.has(code) && !OPERATION_CODES.includes(code),
  );
  return Object.fromEntries(
    sharedCodes.map((code) => {
      const body = recordedBodies.get(code) ?? { reason: errorGuide[code].cause };
      return [naming.code(code), errorExample(code, body, naming)];
    }),
  );
}

/** `QUOTE_NOT_FOUND` → `QuoteNotFoundError`. */
const errorName = (code: Code): string =>
  code
    .toLowerCase()
    .replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/(?:Error)?$/, 'Error');

/** A reference to an equal response, which is added if there is none. Further ones have a number. */
function shared(responses: Json, name: string, response: Json): Json {
  const text = JSON.stringify(response);
  for (let number = 1; ; number++) {
    const key = number === 1 ? name : `${name}${number}`;
    responses[key] ??= response;
    if (JSON.stringify(responses[key]) === text) return { $ref: `${RESPONSE_REF}${key}` };
  }
}

/** The error reply of an operation with these codes. Replies with one code are shared. */
function errorResponse(
  contract: Contract,
  status: number,
  codes: readonly Code[],
  document: Document,
): Json {
  const { naming, responses, errorGuide } = document;
  const response = {
    description: naming.text(`${STATUS_TEXT[status]}\n\n${codesText(codes, errorGuide)}`),
    ...headersOf(contract, status),
    content: {
      'application/json': {
        schema: errorOf(status, codes, document),
        examples: errorExamples(contract, codes, document),
      },
    },
  };
  const [code, ...otherCodes] = codes;
  if (code === undefined || otherCodes.length > 0) return response;
  const isPublic = status === 429 && !contract.permission;
  return shared(responses, isPublic ? `Public${errorName(code)}` : errorName(code), response);
}

/** Error status → the codes that an operation can return with it. */
function codesByStatus(contract: Contract): Map<number, Code[]> {
  const codesOfStatus = new Map<number, Code[]>();
  for (const code of documentedCodesOf(contract)) {
    const status = STATUS_OF[code];
    codesOfStatus.set(status, [...(codesOfStatus.get(status) ?? []), code]);
  }
  return codesOfStatus;
}

function operationOf(contract: Contract, document: Document): Json {
  const { components } = document;
  const exchanges = exchangesOf(contract, document);
  const responses: Json = {};
  const type = contract.streams ? 'text/event-stream' : 'application/json';
  for (const [status, schema] of Object.entries(contract.replies)) {
    const examples = replyExamples(exchanges, Number(status));
    responses[status] = {
      description: replyTextOf(contract, Number(status)),
      ...(schema ? { content: contentOf(schema, components, examples, type) } : {}),
    };
  }
  for (const [status, codes] of codesByStatus(contract)) {
    responses[String(status)] = errorResponse(contract, status, codes, document);
  }
  const declaredParameters = [
    ...parametersOf(contract.params, 'path', components),
    ...parametersOf(contract.query, 'query', components),
    ...parametersOf(contract.headers, 'header', components),
    ...(contract.signedRetry ? SIGNED_RETRY : []),
    ...(idempotencyOf(contract) !== 'none' ? [keyParameterOf(contract)] : []),
  ];
  const parameters = declaredParameters.map((each) => ({
    ...each,
    ...parameterExample(exchanges, each as { name: string; in: string; schema: Json }),
  }));
  const { maxBody } = contract;
  const body = contract.body && {
    requestBody: {
      ...(maxBody && { description: `At most ${maxBody.bytes} bytes, because ${maxBody.reason}.` }),
      required: !contract.bodyOptional,
      content: contract.upload
        ? {
            'multipart/form-data': {
              schema: toOpenApi(contract.body, components),
              ...requestExamples(exchanges),
            },
          }
        : contentOf(contract.body, components, requestExamples(exchanges)),
    },
  };
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    description: [contract.description, document.naming.text(notesOf(contract))]
      .filter(Boolean)
      .join('\n\n'),
    ...(contract.deprecated ? { deprecated: true } : {}),
    security: securityOf(contract),
    // Extensions for the console.
    ...(contract.auth === 'operator' && { 'x-permission': contract.operatorPermission }),
    ...(contract.reveals && { 'x-reveals': true }),
    ...(parameters.length ? { parameters } : {}),
    ...body,
    responses,
  };
}

function envelope({ name, events }: WebhookContract) {
  const [data, ...otherSchemas] = new Set(events.map((each) => each.data));
  if (!data || otherSchemas.length) throw new Error(`the events of ${name} differ in their data`);
  return Type.Object({
    id: Type.String({
      description:
        'ID of the event, `Webhook:<uuid>`. The ID is the same for every delivery ' +
        'attempt. Use it to detect duplicates.',
    }),
    type: subsetOf(
      WebhookType,
      events.map(({ type }) => type),
    ),
    timestamp: withDescription(Timestamp, 'Time at which the event occurred.'),
    data,
  });
}

/** The document with its names on the wire. References are renamed accordingly. */
const applyNaming = (naming: Naming, document: Json): Json =>
  JSON.parse(JSON.stringify(naming.toApiNames(document)), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(REF) ? naming.path(value) : value,
  ) as Json;

function webhookOf(contract: WebhookContract, { components, examples }: Document) {
  const { name, summary, description } = contract;
  return {
    post: {
      operationId: `${name.replaceAll(/-(\w)/g, (_, c: string) => c.toUpperCase())}Webhook`,
      tags: ['Webhooks'],
      summary,
      description: [description, webhookNotesOf(name)].join('\n\n'),
      security: [{ WebhookSignature: [] }],
      requestBody: {
        required: true,
        content: contentOf(
          envelope(contract),
          components,
          webhookExamples(
            examples,
            contract.events.map(({ type }) => type),
          ),
        ),
      },
      responses: {
        200: { description: 'The event was received.' },
        409: { description: 'The event was received before, so it is not sent again.' },
      },
    },
  };
}

/** Generates the document as plain JSON, one operation, webhook or named schema at each step. */
export function* openApiSteps(
  contracts: readonly Contract[],
  webhooks: readonly WebhookContract[],
  naming: Naming,
  examples: Examples,
  { securitySchemes: schemesOf, errorGuide, ...head }: DocumentHead = PLATFORM_HEAD,
): Generator<void, Json> {
  const components: Json = {};
  const responses: Json = {};
  const errors = new Map<number, TSchema>();
  const document = { naming, components, responses, errors, examples, errorGuide };
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    if (contract.auth === 'hosted') continue;
    const path = naming.path(contract.path);
    const method = contract.method.toLowerCase();
    paths[path] = {
      ...paths[path],
      ...applyNaming(naming, { [method]: operationOf(contract, document) }),
    };
    yield;
  }
  const webhookItems: Json = {};
  for (const webhook of webhooks) {
    const item = { [webhook.name]: webhookOf(webhook, document) };
    Object.assign(webhookItems, applyNaming(naming, item));
    yield;
  }
  const schemas: Json = {};
  for (const name of Object.keys(components).sort()) {
    Object.assign(
      schemas,
      applyNaming(naming, { [name]: withSchemaDescription(name, components[name]) }),
    );
    yield;
  }
  const securitySchemes = applyNaming(naming, schemesOf(naming));
  return {
    ...applyNaming(naming, head),
    paths,
    ...(webhooks.length ? { webhooks: webhookItems } : {}),
    components: {
      schemas,
      responses: applyNaming(naming, responses),
      examples: errorBodies(contracts, document),
      securitySchemes,
    },
  };
}
