// Agents as their platforms manage them: created, connected, paused, changed to other policies and
// currencies, and deleted with their waiting actions. The actions of agents are in
// agent-actions.ts.

import { policyOf, randomLimits, randomPolicy } from '../../harness/policies.ts';
import {
  type Agent,
  isActive,
  type Person,
  type Platform,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import { countedOn, usedIn } from '../../model/agent-usage.ts';
import {
  type Action,
  checkReply,
  expected,
  inSandbox,
  PAID_IN,
  payers,
  rejection,
} from '../action.ts';
import { strong } from './strong.ts';

const MAX_AGENTS = 12;

const alive = (sim: Sim): Agent[] =>
  sim.agents.filter(({ deleted, owner }) => !deleted && !owner.deleted);
export const connected = (sim: Sim): (Agent & { as: Platform })[] =>
  alive(sim).filter((each): each is Agent & { as: Platform } => each.as !== undefined);

async function create(sim: Sim): Promise<string> {
  const owners = [...payers(sim), ...strong(sim)].filter(({ id }) => id !== null);
  const ownPeople = owners.filter((each) =>
    sim.externalAccounts.some(({ owner, deleted }) => owner === each && !deleted),
  );
  const owner = sim.chance.of(ownPeople.length ? ownPeople : owners);
  const body = {
    name: `Agent ${sim.next()}`,
    customerId: owner.id,
    policy: randomPolicy(sim, owner),
  };
  const createdAgent = expected(await sim.call('POST', '/agents', body, owner.platform), 201);
  if (inSandbox(owner)) await provide(sim, owner);
  const agent: Agent = {
    id: createdAgent.agent.id,
    owner,
    code: createdAgent.deviceCode.code,
    deleted: false,
  };
  sim.agents.push(agent);
  const description = `of ${sim.people.indexOf(owner)}`;
  return sim.chance.percent(80) ? `${description}: ${await redeem(sim, agent)}` : description;
}

/** Funds the owner of an agent. */
async function provide(sim: Sim, owner: Person): Promise<void> {
  for (const currency of ['USD', 'EUR', sim.chance.of(PAID_IN)]) {
    const internalAccount = owner.internalAccounts.get(currency);
    if (!internalAccount || !isActive(sim, internalAccount)) continue;
    const amount = sim.chance.between(50_000, 400_000);
    const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
    expected(await sim.call('POST', path, { amount }, owner.platform), 200);
    internalAccount.due += BigInt(amount);
  }
}

/** Redeeming a code requires no credentials. */
async function redeem(sim: Sim, agent: Agent): Promise<string> {
  const anonymous = { ...agent.owner.platform, auth: '' };
  const path = `/agents/device-codes/${agent.code}/redeem`;
  const response = await sim.call('POST', path, undefined, anonymous, { withoutKey: true });
  // A lost reply loses the token.
  const codes = ['RATE_LIMITED', ...(response.isRepeated || agent.as ? ['INVALID_INPUT'] : [])];
  const code = rejection(response, codes);
  if (code) return code;
  const { agentId, accessToken } = expected(response, 200);
  if (agentId !== agent.id || agent.as) throw violation(`${agent.code} connects ${agentId}`);
  agent.as = { ...agent.owner.platform, auth: `Bearer ${accessToken}`, agent };
  return 'connected';
}

async function redeemAgain(sim: Sim): Promise<string> {
  const remainingAgents = alive(sim).filter((each) => !each.as && each.code);
  const agent = sim.chance.of(remainingAgents.length ? remainingAgents : alive(sim));
  // A code is valid for a day; a new one replaces it until an agent is connected.
  const path = `/agents/${agent.id}/device-codes`;
  const response = await sim.call('POST', path, undefined, agent.owner.platform);
  const connectedBefore = policyOf(sim, agent).row?.token_hash !== null;
  const code = checkReply(response, connectedBefore ? ['CONFLICT'] : [], path);
  if (code) return code;
  agent.code = expected(response, 201).code;
  return redeem(sim, agent);
}

async function change(sim: Sim): Promise<string> {
  const agent = sim.chance.of(alive(sim));
  const { platform } = agent.owner;
  const path = `/agents/${agent.id}`;
  const { paused } = policyOf(sim, agent);
  if (sim.chance.percent(paused ? 70 : 25)) {
    const body = { isPaused: !paused };
    expected(await sim.call('PATCH', path, body, platform), 200);
    return paused ? 'unpaused' : 'paused';
  }
  const { spendingLimits, ...rest } = randomPolicy(sim, agent.owner);
  const { currency, ...limits } = spendingLimits;
  const body = sim.chance.of<object>([
    { spendingLimits: randomLimits(sim) },
    { spendingLimits: { currency } },
    { spendingLimits: limits },
    { spendingLimits, ...rest },
    { permissions: rest.permissions, defaultExecutionMode: rest.defaultExecutionMode },
  ]);
  const updated = expected(await sim.call('PATCH', `${path}/policy`, body, platform), 200);
  return `${Object.keys(body)} in ${updated.policy.spendingLimits.currency}`;
}

async function remove(sim: Sim): Promise<string> {
  const agent = sim.chance.of(alive(sim));
  const path = `/agents/${agent.id}`;
  const response = await sim.call('DELETE', path, undefined, agent.owner.platform);
  if (!response.isRepeated || response.status !== 404) expected(response, 204);
  agent.deleted = true;
  sim.agents.splice(sim.agents.indexOf(agent), 1);
  if (agent.as) {
    const deletedResponse = await sim.call('GET', '/agents/me', undefined, agent.as);
    checkReply(deletedResponse, ['UNAUTHORIZED'], `${agent.id}, which was deleted`);
  }
  return agent.as ? 'connected before' : 'gone';
}

/** The usage that an agent reads equals what it has spent. */
async function readAgent(sim: Sim): Promise<string> {
  const agent = sim.chance.of(connected(sim));
  const { usage, isPaused } = expected(
    await sim.call('GET', '/agents/me', undefined, agent.as),
    200,
  );
  const { row, paused } = policyOf(sim, agent);
  const day = new Date(sim.effects.now()).toISOString().slice(0, 10);
  const expectedUsage = row && {
    dailyTransactionCount: Number(countedOn(sim.model, row, day)),
    dailySpend: Number(usedIn(sim.model, row, day)),
    monthlySpend: Number(usedIn(sim.model, row, day.slice(0, 7))),
  };
  const mismatch = Object.entries(expectedUsage ?? {}).find(
    ([name, value]) => usage[name] !== value,
  );
  if (mismatch || isPaused !== paused) {
    throw violation(
      `${agent.id} reads ${JSON.stringify(usage)}, not ${JSON.stringify(expectedUsage)}`,
    );
  }
  return JSON.stringify(expectedUsage);
}

/** The platform's list contains every waiting action. */
async function list(sim: Sim): Promise<string> {
  const platform = sim.chance.of(sim.platforms);
  const path = '/agents/approvals?limit=100';
  const { data } = expected(await sim.call('GET', path, undefined, platform), 200);
  const actualIds = (data as { id: string }[]).map(({ id }) => id).sort();
  const expectedActions = sim.waiting.filter(
    ({ order, agent }) => order.platform === platform && !agent.deleted,
  );
  if (
    actualIds.join() !==
    expectedActions
      .map(({ id }) => id)
      .sort()
      .join()
  ) {
    throw violation(
      `${actualIds.length} actions wait for ${platform.id}, not ${expectedActions.length}`,
    );
  }
  return `${actualIds.length}`;
}

const anyAgent = (sim: Sim) => alive(sim).length > 0;
const anyConnected = (sim: Sim) => connected(sim).length > 0;

export const AGENTS: readonly Action[] = [
  {
    name: 'create an agent',
    weight: 4,
    ready: (sim) =>
      alive(sim).length < MAX_AGENTS &&
      [...payers(sim), ...strong(sim)].some(({ id }) => id !== null),
    run: create,
  },
  { name: 'renew the code of an agent', weight: 0.5, ready: anyAgent, run: redeemAgain },
  { name: 'change an agent', weight: 3, ready: anyAgent, run: change },
  { name: 'delete an agent', weight: 0.5, ready: anyAgent, run: remove },
  { name: 'read an agent', weight: 1, ready: anyConnected, run: readAgent },
  { name: 'list waiting agent actions', weight: 1, run: list },
];
