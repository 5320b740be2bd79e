// Connects the operator API to a server: its operations, bound to the installation, and its document.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Naming, namingFor } from '../catalog/naming.ts';
import type { Connectors } from '../connectors/ports/index.ts';
import type { BuiltInProvider, ProviderDirectory } from '../features/providers/index.ts';
import type { RetentionDeps } from '../features/retention/index.ts';
import type { SandboxWorldDeps } from '../features/sandbox/index.ts';
import type { ChangeFeed } from '../features/staff/changes/index.ts';
import type { Operation } from '../http/bind.ts';
import { addOperatorReference } from '../http/reference.ts';
import { OPERATOR_BASE_PATH } from '../http/route.ts';
import type { Mode } from '../kernel/mode.ts';
import { runInSteps, runToEnd } from '../kernel/steps.ts';
import { streamRows } from '../runtime/db/stream.ts';
import type { Files } from '../runtime/files/files.ts';
import type { Runtime } from '../runtime/operation/operate.ts';
import { operatorOpenApiSteps } from './document.ts';
import type { IdentityProvider } from './handle.ts';
import { OPERATOR_OPERATIONS } from './index.ts';
import type { Installation, ProcessState, Provisioning } from './installation.ts';

/** Port of the operator API: that of the server, a separate port, or none. */
export type OperatorApiSetting = 'on' | 'off' | number;

export interface OperatorMount {
  databaseUrl: string;
  walletRecoveryMs: number | undefined;
  runtime: Runtime;
  files: Files;
  connectors(environment: Mode): Connectors;
  directory: ProviderDirectory;
  builtIn(): readonly BuiltInProvider[];
  provisioning: Provisioning;
  retention: RetentionDeps;
  changes: ChangeFeed;
  process: ProcessState;
  world: Pick<SandboxWorldDeps, 'operations' | 'perform'>;
  /** Address at which operators sign in. */
  operatorUrl: string | undefined;
  identityProvider: IdentityProvider | undefined;
}

/** Maximum time of a statement that reads whole tables, such as the verification of the ledger. */
const STATEMENT_TIMEOUT_MS = 600_000;

/** The operations of the operator API on this installation. */
export function operatorOperationsOn(options: OperatorMount): Operation[] {
  const { databaseUrl: url, connectors, directory, ...others } = options;
  const { provisioning, operatorUrl, identityProvider, changes, process, world, ...rest } = others;
  const installation: Installation = {
    ...rest,
    connectorsOf: connectors,
    providers: async () => directory,
    fundingOf: (environment) => connectors(environment).funding,
    stream: (text, values) =>
      streamRows({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS }, text, values),
  };
  const operationOf = (id: string) =>
    OPERATOR_OPERATIONS.find(({ contract }) => contract.operationId === id);
  const callDeps = { operationOf, operatorUrl, identityProvider, changes, process, world };
  const handlerDeps = { installation, provisioning, ...callDeps };
  return OPERATOR_OPERATIONS.map((each) => each.bind(handlerDeps));
}

/** Serves the document of the operator API, and a page that shows it. */
export function addOperatorDocument(server: FastifyInstance, naming: Naming): void {
  let text: Promise<string> | undefined;
  server.get(`${OPERATOR_BASE_PATH}/openapi.json`, async (_request, reply) => {
    // The document is generated in steps, so that no payment waits for it.
    text ??= runInSteps(operatorOpenApiSteps(naming), nextTurn)
      .then((each) => JSON.stringify(each))
      .catch((error) => {
        // The next request generates the document again.
        text = undefined;
        throw error;
      });
    return reply.type('application/json').send(await text);
  });
  addOperatorReference(server, OPERATOR_BASE_PATH);
}

/** The document with the neutral service name prefix. */
export const operatorDocument = (): Record<string, unknown> =>
  runToEnd(operatorOpenApiSteps(namingFor('Service')));
