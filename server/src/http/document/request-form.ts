// The form of the documentation site that sends requests: the parameters of an operation and its example
// requests. The site loads the form when it is opened, because the IDs of the examples depend on the data of
// the server.
import { BASE_PATH } from '../route.ts';

/** An example request. `parameters` are those of the path, the query and the headers, by name. */
export interface ExampleRequest {
  summary: string;
  parameters: Readonly<Record<string, unknown>>;
  body?: unknown;
}

interface FormParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
}

export interface RequestForm {
  operationId: string;
  method: string;
  /** Path with its parameters in braces, below the root of the server. */
  path: string;
  /** Kind of the credential: a client ID with its secret, a token of an agent, or none. */
  credential: 'client' | 'agent' | 'none';
  parameters: FormParameter[];
  /** Absent if the request has no body. */
  contentType?: string;
  examples: ExampleRequest[];
  /** What the sample of a new server lacks for this request, as a sentence. */
  precondition?: string | undefined;
}

interface OpenApiOperation {
  operationId: string;
  parameters?: FormParameter[];
  requestBody?: { content: Record<string, unknown> };
  security?: Record<string, unknown>[];
}

interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
}

const CREDENTIALS: Readonly<Record<string, RequestForm['credential']>> = {
  BasicAuth: 'client',
  AgentAuth: 'agent',
};

function credentialOf({ security = [] }: OpenApiOperation): RequestForm['credential'] {
  const [scheme] = Object.keys(security[0] ?? {});
  return CREDENTIALS[scheme ?? ''] ?? 'none';
}

/** The form of an operation without its examples, or undefined if the document has no such operation. */
export function requestFormOf(
  document: object,
  operationId: string,
): Omit<RequestForm, 'examples' | 'precondition'> | undefined {
  for (const [path, item] of Object.entries((document as OpenApiDocument).paths))
    for (const [method, operation] of Object.entries(item)) {
      if (operation.operationId !== operationId) continue;
      const [contentType] = Object.keys(operation.requestBody?.content ?? {});
      return {
        operationId,
        method: method.toUpperCase(),
        path: `${BASE_PATH}${path}`,
        credential: credentialOf(operation),
        parameters: (operation.parameters ?? []).map(({ name, in: location, required }) => ({
          name,
          in: location,
          required,
        })),
        ...(contentType && { contentType }),
      };
    }
  return undefined;
}
