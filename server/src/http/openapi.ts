// The OpenAPI 3.1 document, made from the contracts and nothing else, so that what is published is what
// is checked. Error bodies are one schema for each status, listing every code of that status; an operation
// narrows it to its own codes.
import { type TSchema, Type } from '@sinclair/typebox';
import type { Naming } from '../catalog/naming.ts';
import { EVENT_TYPES, type WebhookContract } from '../kernel/contract/event.ts';
import { type Contract, DEFAULT_MAX_BODY, idempotencyOf } from '../kernel/contract/operation.ts';
import { MAX_FIELD_ERRORS } from '../kernel/contract/validate.ts';
import { type Code, STATUS_OF } from '../kernel/fault.ts';
import { described, named, oneOf, partOf, REF, Timestamp, toOpenApi } from '../kernel/schema.ts';
import { documentedCodesOf } from './operation-errors.ts';

type Json = Record<string, unknown>;

const STATUS_TEXT: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; one more step is needed.',
  204: 'Done; nothing to show.',
  400: 'The request cannot be carried out as it is.',
  401: 'The credential or signature is missing or wrong.',
  403: 'The credential may not do this.',
  404: 'No such thing, or not yours.',
  405: 'Another method is needed here.',
  409: 'The state of the resource does not allow this.',
  410: 'It was deleted.',
  412: 'No common version with the counterparty.',
  423: 'Locked after too many failures.',
  424: 'A counterparty failed.',
  429: 'Too much; try later.',
  500: 'A fault on our side.',
  501: 'Not offered here.',
  503: 'Briefly unavailable.',
};

const FieldErrorSchema = named(
  'FieldError',
  Type.Object(
    {
      field: Type.String({ description: 'Dot path of the field in the request.' }),
      constraint: Type.Optional(
        Type.Object(
          {
            format: Type.Optional(Type.String()),
            pattern: Type.Optional(Type.String()),
            enum: Type.Optional(Type.Array(Type.String())),
            minLength: Type.Optional(Type.Integer()),
            maxLength: Type.Optional(Type.Integer()),
          },
          { description: 'What would have been accepted, for a program to act on.' },
        ),
      ),
      message: Type.String({ description: 'What is wrong, for a person.' }),
    },
    { description: 'One field that was not accepted.' },
  ),
);

function detailsOf(status: number): TSchema {
  const open = { additionalProperties: true, description: 'More about this error.' };
  if (status === 400) {
    const errors = Type.Array(FieldErrorSchema, {
      description: `The fields that were not accepted; the first ${MAX_FIELD_ERRORS} of them.`,
    });
    return Type.Object({ errors: Type.Optional(errors) }, open);
  }
  if (status === 423) {
    const time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
    return Type.Object(
      {
        suspended: Type.Optional(Type.Boolean()),
        lockedUntil: Type.Optional(time),
        failedAttempts: Type.Optional(Type.Integer()),
      },
      open,
    );
  }
  return Type.Object({}, open);
}

/** The body of every reply with this error status. */
export function errorSchema(status: number, naming: Naming): TSchema {
  const codes = (Object.keys(STATUS_OF) as Code[]).filter((code) => STATUS_OF[code] === status);
  return named(
    `Error${status}`,
    Type.Object(
      {
        status: Type.Unsafe<number>({ type: 'integer', enum: [status] }),
        code: oneOf(codes.map((code) => naming.code(code))),
        reason: Type.String({ description: 'What went wrong, for a person.' }),
        message: Type.String({ description: 'The same as `reason`.' }),
        details: Type.Optional(detailsOf(status)),
      },
      { description: STATUS_TEXT[status] ?? '' },
    ),
  );
}

function parametersOf(schema: TSchema | undefined, place: string, components: Json): Json[] {
  const needed = new Set((schema?.required ?? []) as string[]);
  return Object.entries((schema?.properties ?? {}) as Record<string, TSchema>).map(
    ([name, property]) => {
      const { description, ...rest } = toOpenApi(property, components) as Json;
      return {
        name,
        in: place,
        required: place === 'path' || needed.has(name),
        ...(description ? { description } : {}),
        schema: rest,
      };
    },
  );
}

const contentOf = (schema: TSchema, components: Json) => ({
  'application/json': { schema: toOpenApi(schema, components) },
});

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A key of your own. The same key and request again get the first reply again.',
  schema: { type: 'string', maxLength: 255 },
};

const keyOf = (contract: Contract) =>
  idempotencyOf(contract) === 'required'
    ? { ...IDEMPOTENCY_KEY, required: true, schema: { minLength: 1, ...IDEMPOTENCY_KEY.schema } }
    : IDEMPOTENCY_KEY;

const SIGNED_RETRY = [
  {
    name: 'Service-Wallet-Signature',
    in: 'header',
    required: false,
    description: 'Stamp over `payloadToSign` of the challenge, on the second request.',
    schema: { type: 'string' },
  },
  {
    name: 'Request-Id',
    in: 'header',
    required: false,
    description: '`requestId` of the challenge, on the second request.',
    schema: { type: 'string' },
  },
];

const counted = (description: string) => ({ description, schema: { type: 'integer' } });

/** The three `RateLimit` headers come with every reply to a request with good credentials. */
const SLOW_DOWN = {
  'Retry-After': counted('Seconds after which the same request may be tried again.'),
  'RateLimit-Limit': counted('Requests that this platform may send at once.'),
  'RateLimit-Remaining': counted('How many of them are left now.'),
  'RateLimit-Reset': counted('Seconds until all of them are available again.'),
};

/** Without a credential there is no platform whose limit could be stated. */
const headersOf = (contract: Contract, status: number): Json => {
  if (status !== 429) return {};
  const { 'Retry-After': retry } = SLOW_DOWN;
  return { headers: contract.permission ? SLOW_DOWN : { 'Retry-After': retry } };
};

function securityOf({ permission, auth }: Contract): Json[] {
  if (!permission) return [];
  return [auth === 'agent' ? { AgentAuth: [] } : { BasicAuth: [] }];
}

interface Document {
  naming: Naming;
  components: Json;
  /** The schema of each error status, made once. */
  errors: Map<number, TSchema>;
}

/** The body of an error, with only these of its status's codes. */
function errorOf(status: number, codes: readonly Code[], document: Document): Json {
  const { naming, errors, components } = document;
  const schema = errors.get(status) ?? errorSchema(status, naming);
  errors.set(status, schema);
  const own = { properties: { code: { enum: codes.map((code) => naming.code(code)) } } };
  const narrowed = { allOf: [toOpenApi(schema, components), own] };
  const [first, ...others] = codes;
  if (first === undefined || others.length > 0) return narrowed;
  // Most operations have one code of a status, and many the same.
  const name = errorName(first);
  components[name] = narrowed;
  return { $ref: `${REF}${name}` };
}

/** `QUOTE_NOT_FOUND` → `QuoteNotFoundError`. */
const errorName = (code: Code): string =>
  code
    .toLowerCase()
    .replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/(?:Error)?$/, 'Error');

/** Error status → the codes that an operation can answer with it. */
function codesByStatus(contract: Contract): Map<number, Code[]> {
  const found = new Map<number, Code[]>();
  for (const code of documentedCodesOf(contract)) {
    const status = STATUS_OF[code];
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

function operationOf(contract: Contract, document: Document): Json {
  const { components } = document;
  const responses: Json = {};
  for (const [status, schema] of Object.entries(contract.replies)) {
    responses[status] = {
      description: STATUS_TEXT[Number(status)],
      ...(schema ? { content: contentOf(schema, components) } : {}),
    };
  }
  for (const [status, codes] of codesByStatus(contract)) {
    responses[String(status)] = {
      description: STATUS_TEXT[status],
      ...headersOf(contract, status),
      content: { 'application/json': { schema: errorOf(status, codes, document) } },
    };
  }
  const parameters = [
    ...parametersOf(contract.params, 'path', components),
    ...parametersOf(contract.query, 'query', components),
    ...parametersOf(contract.headers, 'header', components),
    ...(contract.signedRetry ? SIGNED_RETRY : []),
    ...(idempotencyOf(contract) !== 'none' ? [keyOf(contract)] : []),
  ];
  const { maxBody } = contract;
  const body = contract.body && {
    requestBody: {
      ...(maxBody && { description: `At most ${maxBody.bytes} bytes: ${maxBody.reason}.` }),
      required: !contract.bodyOptional,
      content: contract.upload
        ? { 'multipart/form-data': { schema: toOpenApi(contract.body, components) } }
        : contentOf(contract.body, components),
    },
  };
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description ? { description: contract.description } : {}),
    ...(contract.deprecated ? { deprecated: true } : {}),
    security: securityOf(contract),
    ...(parameters.length ? { parameters } : {}),
    ...body,
    responses,
  };
}

const WebhookType = named('WebhookType', oneOf(EVENT_TYPES));

function envelope({ name, events }: WebhookContract) {
  const [data, ...others] = new Set(events.map((each) => each.data));
  if (!data || others.length) throw new Error(`the events of ${name} differ in their data`);
  return Type.Object({
    id: Type.String({ description: 'Webhook:<uuid>, the same on every retry.' }),
    type: partOf(
      WebhookType,
      events.map(({ type }) => type),
    ),
    timestamp: described(Timestamp, 'When it happened.'),
    data,
  });
}

/** The document under its names on the wire. References follow what they refer to. */
const inWords = (naming: Naming, document: Json): Json =>
  JSON.parse(JSON.stringify(naming.toWire(document)), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(REF) ? naming.path(value) : value,
  ) as Json;

function webhookOf(contract: WebhookContract, components: Json) {
  const { name, summary, description } = contract;
  return {
    post: {
      operationId: `${name.replaceAll(/-(\w)/g, (_, c: string) => c.toUpperCase())}Webhook`,
      tags: ['Webhooks'],
      summary,
      description,
      security: [{ WebhookSignature: [] }],
      requestBody: { required: true, content: contentOf(envelope(contract), components) },
      responses: { 200: { description: 'Received.' }, 409: { description: 'Received before.' } },
    },
  };
}

const HEAD = {
  openapi: '3.1.0',
  info: {
    title: 'Railhead',
    version: '2025-10-13',
    description:
      'Payments platform: customers, accounts, quotes, transfers, webhooks, sandbox. A JSON body has ' +
      `at most ${DEFAULT_MAX_BODY} bytes where its operation states no other limit.`,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/2025-10-13' }],
};

const securitySchemesOf = (naming: Naming) => ({
  BasicAuth: { type: 'http', scheme: 'basic', description: 'Client id and client secret.' },
  AgentAuth: { type: 'http', scheme: 'bearer', description: 'Access token of an agent.' },
  WebhookSignature: { type: 'apiKey', in: 'header', name: naming.webhookSignatureHeader },
});

/** The whole document as plain JSON, an operation, a webhook or a named schema at a step. */
export function* openApiSteps(
  contracts: readonly Contract[],
  webhooks: readonly WebhookContract[],
  naming: Naming,
): Generator<void, Json> {
  const components: Json = {};
  const document = { naming, components, errors: new Map<number, TSchema>() };
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    if (contract.auth === 'hosted') continue;
    const path = naming.path(contract.path);
    const method = contract.method.toLowerCase();
    paths[path] = {
      ...paths[path],
      ...inWords(naming, { [method]: operationOf(contract, document) }),
    };
    yield;
  }
  const hooks: Json = {};
  for (const webhook of webhooks) {
    Object.assign(hooks, inWords(naming, { [webhook.name]: webhookOf(webhook, components) }));
    yield;
  }
  const schemas: Json = {};
  for (const name of Object.keys(components).sort()) {
    Object.assign(schemas, inWords(naming, { [name]: components[name] }));
    yield;
  }
  const securitySchemes = inWords(naming, securitySchemesOf(naming));
  return {
    ...inWords(naming, HEAD),
    paths,
    webhooks: hooks,
    components: { schemas, securitySchemes },
  };
}
