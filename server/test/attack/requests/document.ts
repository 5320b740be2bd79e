// The operations of both published documents, with compiled schemas of their replies.
import fs from 'node:fs';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { projectRoot } from '../../../src/runtime/config/root.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema or a part of a document.
export type Json = any;

type Api = 'platform' | 'operator';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Json;
  example?: string;
}

export interface Operation {
  api: Api;
  operationId: string;
  method: string;
  /** With the base path. */
  path: string;
  parameters: Parameter[];
  /** Undefined if the operation has no body. */
  body: { type: string; schema: Json; examples: Json[] } | undefined;
  isPublic: boolean;
  isAgent: boolean;
  statuses: ReadonlySet<number>;
  /** The first deviation of a reply from its schema, or undefined if there is none. */
  deviationOf(status: number, body: Json): string | undefined;
}

export interface Documents {
  operations: Operation[];
  /** Resolves `$ref` of a schema. */
  resolve(api: Api, schema: Json): Json;
}

const FILES: Record<Api, string> = {
  platform: 'openapi.json',
  operator: 'operator-openapi.json',
};

function resolveReference(document: Json, schema: Json): Json {
  let schemaPart = schema;
  while (schemaPart?.$ref) {
    const keys = (schemaPart.$ref as string).slice(2).split('/');
    schemaPart = keys.reduce((value: Json, key) => value[key], document);
  }
  return schemaPart;
}

function createValidators(document: Json, api: Api) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: api, ...document });
  const compiledSchemas = new Map<string, ValidateFunction>();
  return (schema: Json): ValidateFunction => {
    // References point into the document.
    const text = JSON.stringify(schema).replaceAll('"#/', `"${api}#/`);
    const validate = compiledSchemas.get(text) ?? ajv.compile(JSON.parse(text));
    compiledSchemas.set(text, validate);
    return validate;
  };
}

function readDocument(api: Api): { operations: Operation[]; document: Json } {
  const document = JSON.parse(fs.readFileSync(path.join(projectRoot(), FILES[api]), 'utf8'));
  const base = document.servers[0].url as string;
  const validatorOf = createValidators(document, api);
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]): Operation => {
      const content = Object.entries<Json>(operation.requestBody?.content ?? {})[0];
      const schemes = (operation.security ?? []).flatMap(Object.keys);
      return {
        ...{ api, operationId: operation.operationId, method: method.toUpperCase() },
        path: base + path,
        parameters: operation.parameters ?? [],
        body: content && {
          type: content[0],
          schema: content[1].schema,
          examples: Object.values<Json>(content[1].examples ?? {}).map(
            (example) => resolveReference(document, example).value,
          ),
        },
        isPublic: schemes.length === 0,
        isAgent: schemes.includes('AgentAuth'),
        statuses: new Set(Object.keys(operation.responses).map(Number)),
        deviationOf(status, body) {
          const response = resolveReference(document, operation.responses[status]);
          const schema = response?.content?.['application/json']?.schema;
          if (!schema) return undefined;
          const validate = validatorOf(schema);
          if (validate(body)) return undefined;
          const [error] = validate.errors ?? [];
          return `${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
        },
      };
    }),
  );
  return { operations, document };
}

export function readDocuments(): Documents {
  const documents = { platform: readDocument('platform'), operator: readDocument('operator') };
  return {
    operations: [...documents.platform.operations, ...documents.operator.operations],
    resolve: (api, schema) => resolveReference(documents[api].document, schema),
  };
}
