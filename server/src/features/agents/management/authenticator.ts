// Which agent asks, by its bearer token. Nothing is remembered that would let one in: whoever deletes an
// agent or its customer ends its access at once. A token is found by its hash, so how long that takes says
// nothing about it.
import type { Caller } from '../../../kernel/caller.ts';
import { PERMISSIONS } from '../../../kernel/contract/operation.ts';
import type { World } from '../../../kernel/world.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { readCustomer } from '../../customers/records/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { noAgent } from '../parts.ts';
import { agents } from '../store.ts';

/** Bits of a token are eight times as many. */
const TOKEN_BYTES = 20;
const BEARER = /^bearer +(gat_[0-9a-f]{40}) *$/i;
/** Beyond it the one that was shown to be good first is forgotten. */
const MOST_PROVEN = 10_000;

/** A new access token: show it and keep its hash. */
export const drawToken = (world: Pick<World, 'random'>): string =>
  `gat_${Buffer.from(world.random(TOKEN_BYTES)).toString('hex')}`;

export const tokenHash = (token: string): string => sha256Hex(token);

/** An agent acts within its platform, as itself. */
export function agentBearers({ db }: Pick<Runtime, 'db'>, mostProven = MOST_PROVEN) {
  // Hashes of tokens that were good when they were last seen. They open nothing.
  const proven = new Set<string>();

  const hashOf = (authorization: string | undefined): string | undefined => {
    const token = BEARER.exec(authorization ?? '')?.[1];
    return token && tokenHash(token);
  };

  async function find(hash: string): Promise<Caller | undefined> {
    const [agent] = await db.find(agents, { token_hash: hash });
    if (!agent || agent.deleted_at !== null) return undefined;
    const [customer, platform] = await Promise.all([
      readCustomer(db, agent.customer_id),
      readPlatform(db, agent.platform_id),
    ]);
    if (!customer || customer.deleted_at !== null || !platform) return undefined;
    const { id: platformId, environment } = platform;
    return { platformId, environment, tokenId: null, permissions: PERMISSIONS, agentId: agent.id };
  }

  return {
    async callerOf(authorization: string | undefined): Promise<Caller> {
      const hash = hashOf(authorization);
      const caller = hash && (await find(hash));
      if (!caller) {
        if (hash) proven.delete(hash);
        throw noAgent();
      }
      if (proven.has(hash)) return caller;
      if (proven.size >= mostProven) proven.delete(proven.values().next().value as string);
      proven.add(hash);
      return caller;
    },
    isProven: (authorization: string | undefined): boolean => {
      const hash = proven.size > 0 ? hashOf(authorization) : undefined;
      return hash !== undefined && proven.has(hash);
    },
  };
}
