// The HTTP servers of a process: one, or a second one for the operator API on a separate port.
import type { FastifyInstance } from 'fastify';
import { provisioningBy } from './bootstrap.ts';
import { accountPorts } from './features.ts';
import { listenOn } from './http/connection/listen.ts';
import { createServer } from './http/server.ts';
import {
  addOperatorDocument,
  type OperatorApiSetting,
  type OperatorMount,
  operatorOperationsOn,
} from './operator-api/mount.ts';

interface ServerSettings {
  databaseUrl: string;
  masterKey: Uint8Array;
  operatorApi?: OperatorApiSetting | undefined;
  operatorUrl?: string | undefined;
  publicUrl?: string | undefined;
}

/** Address at which operators sign in. */
export const operatorUrlOf = ({ operatorUrl, publicUrl }: ServerSettings): string | undefined =>
  operatorUrl ?? publicUrl;

type ServerOptions = Parameters<typeof createServer>[0];

interface Servers {
  server: FastifyInstance;
  /** Starts to accept requests; returns the address of the API. */
  listen(at: { host: string; port: number }): Promise<{ port: number; origin: string }>;
}

function serverAlone(options: ServerOptions): Servers {
  const server = createServer(options);
  return { server, listen: (at) => listenOn(server, at) };
}

/** The server, with the operator API on it or on a separate port. */
export function serversOf(
  settings: ServerSettings,
  isApi: boolean,
  installation: Omit<OperatorMount, 'databaseUrl' | 'masterKey' | 'provisioning' | 'operatorUrl'>,
  options: ServerOptions,
): Servers {
  const { operatorApi = 'on', databaseUrl, masterKey } = settings;
  if (!isApi) return serverAlone({ ...options, operations: [] });
  if (operatorApi === 'off') return serverAlone(options);
  const { naming, operations } = options;
  const provisioning = provisioningBy((env) => installation.connectors(env).funding, accountPorts);
  const operatorUrl = operatorUrlOf(settings);
  const mount = { databaseUrl, masterKey, provisioning, operatorUrl, ...installation };
  const own = operatorOperationsOn(mount);
  if (operatorApi === 'on') {
    const alone = serverAlone({ ...options, operations: [...operations, ...own] });
    addOperatorDocument(alone.server, naming);
    return alone;
  }
  const { server } = serverAlone(options);
  const operatorServer = createServer({ ...options, operations: own });
  addOperatorDocument(operatorServer, naming);
  server.addHook('preClose', () => operatorServer.close());
  const listenOnBoth = async (at: Parameters<Servers['listen']>[0]) => {
    await listenOn(operatorServer, { ...at, port: operatorApi });
    return listenOn(server, at);
  };
  return { server, listen: listenOnBoth };
}
