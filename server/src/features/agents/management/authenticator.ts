// Authenticates agents by bearer token. Each request reads the agent and its customer, so the
// deletion of either revokes access immediately. A token is found by its hash, so the timing is
// independent of the token.
import type { Caller } from '../../../kernel/caller.ts';
import { PERMISSIONS } from '../../../kernel/contract/operation.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { readCustomer } from '../../customers/records/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { invalidToken } from '../deps.ts';
import { type AgentRow, agents } from '../store.ts';

/** 160 random bits are infeasible to guess. */
const TOKEN_BYTES = 20;
const BEARER = /^bearer +(gat_[0-9a-f]{40}) *$/i;
/** Maximum number of cached hashes of valid tokens. The oldest entry is evicted. */
const MAX_PROVEN_HASHES = 10_000;

/** Generates an access token. Return it once and store its hash. */
export const generateToken = (effects: Pick<Effects, 'random'>): string =>
  `gat_${Buffer.from(effects.random(TOKEN_BYTES)).toString('hex')}`;

export const tokenHash = (token: string): string => sha256Hex(token);

/** The agent as a caller, or undefined if it or its customer was deleted. */
async function callerOf(db: Runtime['db'], agent: AgentRow): Promise<Caller | undefined> {
  if (agent.deleted_at !== null) return undefined;
  const [customer, platform] = await Promise.all([
    readCustomer(db, agent.customer_id),
    readPlatform(db, agent.platform_id),
  ]);
  if (!customer || customer.deleted_at !== null || !platform) return undefined;
  const { id: platformId, environment } = platform;
  return {
    platformId,
    environment,
    tokenId: null,
    requestBodiesUntil: platform.request_bodies_until,
    permissions: PERMISSIONS,
    agentId: agent.id,
  };
}

/** An agent of the platform as a caller, without its token. Throws NOT_FOUND. */
export async function agentCaller(
  { db }: Pick<Runtime, 'db'>,
  platformId: string,
  agentId: string,
): Promise<Caller> {
  const agent = isId(agentId, 'Agent') ? await db.read(agents, agentId) : undefined;
  const caller = agent?.platform_id === platformId ? await callerOf(db, agent) : undefined;
  if (!caller) throw new Fault('NOT_FOUND', 'Agent not found.');
  return caller;
}

/** Authenticator of agents. The caller has the platform of the agent and the ID of the agent. */
export function agentBearers({ db }: Pick<Runtime, 'db'>, maxValidHashes = MAX_PROVEN_HASHES) {
  // Hashes of recently valid tokens. Only rate limits use them.
  const validHashes = new Set<string>();

  const hashOf = (authorization: string | undefined): string | undefined => {
    const token = BEARER.exec(authorization ?? '')?.[1];
    return token && tokenHash(token);
  };

  async function find(hash: string): Promise<Caller | undefined> {
    const [agent] = await db.find(agents, { token_hash: hash });
    return agent && callerOf(db, agent);
  }

  return {
    async callerOf(authorization: string | undefined): Promise<Caller> {
      const hash = hashOf(authorization);
      const caller = hash && (await find(hash));
      if (!caller) {
        if (hash) validHashes.delete(hash);
        throw invalidToken();
      }
      if (validHashes.has(hash)) return caller;
      if (validHashes.size >= maxValidHashes)
        validHashes.delete(validHashes.values().next().value as string);
      validHashes.add(hash);
      return caller;
    },
    wasValid: (authorization: string | undefined): boolean => {
      const hash = validHashes.size > 0 ? hashOf(authorization) : undefined;
      return hash !== undefined && validHashes.has(hash);
    },
  };
}
