// Management of agents by their platforms: creation, connection, pause, other policies and
// currencies, and deletion with their pending actions. The actions of agents are in
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
  bodyOf,
  checkReply,
  isInSandbox,
  PAYMENT_CURRENCIES,
  payers,
  rejectionCode,
} from '../action.ts';
import { strongCustomers } from './strong.ts';

const MAX_AGENTS = 12;

const activeAgents = (sim: Sim): Agent[] =>
  sim.agents.filter(({ isDeleted, owner }) => !isDeleted && !owner.isDeleted);
export const connectedAgents = (sim: Sim): (Agent & { client: Platform })[] =>
  activeAgents(sim).filter(
    (agent): agent is Agent & { client: Platform } => agent.client !== undefined,
  );

async function createAgent(sim: Sim): Promise<string> {
  const owners = [...payers(sim), ...strongCustomers(sim)].filter(({ id }) => id !== null);
  const ownersWithAccounts = owners.filter((person) =>
    sim.externalAccounts.some(({ owner, isDeleted }) => owner === person && !isDeleted),
  );
  const owner = sim.chance.pick(ownersWithAccounts.length ? ownersWithAccounts : owners);
  const body = {
    name: `Agent ${sim.nextNumber()}`,
    customerId: owner.id,
    policy: randomPolicy(sim, owner),
  };
  const createdAgent = bodyOf(await sim.call('POST', '/agents', body, owner.platform), 201);
  if (isInSandbox(owner)) await fundOwner(sim, owner);
  const agent: Agent = {
    id: createdAgent.agent.id,
    owner,
    code: createdAgent.deviceCode.code,
    isDeleted: false,
  };
  sim.agents.push(agent);
  const description = `of ${sim.people.indexOf(owner)}`;
  return sim.chance.percent(80) ? `${description}: ${await redeemCode(sim, agent)}` : description;
}

/** Funds the owner of an agent. */
async function fundOwner(sim: Sim, owner: Person): Promise<void> {
  for (const currency of ['USD', 'EUR', sim.chance.pick(PAYMENT_CURRENCIES)]) {
    const internalAccount = owner.internalAccounts.get(currency);
    if (!internalAccount || !isActive(sim, internalAccount)) continue;
    const amount = sim.chance.integerBetween(50_000, 400_000);
    const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
    bodyOf(await sim.call('POST', path, { amount }, owner.platform), 200);
    internalAccount.expectedBalance += BigInt(amount);
  }
}

/** Redeeming a code requires no credentials. */
async function redeemCode(sim: Sim, agent: Agent): Promise<string> {
  const anonymousPlatform = { ...agent.owner.platform, auth: '' };
  const path = `/agents/device-codes/${agent.code}/redeem`;
  const response = await sim.call('POST', path, undefined, anonymousPlatform, { withoutKey: true });
  // Only the first reply contains the token. An agent whose reply was lost has no token.
  const codes = ['RATE_LIMITED', ...(response.isRepeated || agent.client ? ['INVALID_INPUT'] : [])];
  const code = rejectionCode(response, codes);
  if (code) return code;
  const { agentId, accessToken } = bodyOf(response, 200);
  if (agentId !== agent.id || agent.client)
    throw violation(`the code ${agent.code} of ${agent.id} connected ${agentId}`);
  agent.client = { ...agent.owner.platform, auth: `Bearer ${accessToken}`, agent };
  return 'connected';
}

async function renewCode(sim: Sim): Promise<string> {
  const unconnectedAgents = activeAgents(sim).filter((agent) => !agent.client && agent.code);
  const agent = sim.chance.pick(unconnectedAgents.length ? unconnectedAgents : activeAgents(sim));
  // A code is valid for a day. A new code replaces the earlier code until an agent is connected.
  const path = `/agents/${agent.id}/device-codes`;
  const response = await sim.call('POST', path, undefined, agent.owner.platform);
  const isConnected = policyOf(sim, agent).row?.token_hash !== null;
  const code = checkReply(response, isConnected ? ['CONFLICT'] : [], path);
  if (code) return code;
  agent.code = bodyOf(response, 201).code;
  return redeemCode(sim, agent);
}

async function changeAgent(sim: Sim): Promise<string> {
  const agent = sim.chance.pick(activeAgents(sim));
  const { platform } = agent.owner;
  const path = `/agents/${agent.id}`;
  const { paused: isPaused } = policyOf(sim, agent);
  if (sim.chance.percent(isPaused ? 70 : 25)) {
    const body = { isPaused: !isPaused };
    bodyOf(await sim.call('PATCH', path, body, platform), 200);
    return isPaused ? 'unpaused' : 'paused';
  }
  const { spendingLimits, ...otherFields } = randomPolicy(sim, agent.owner);
  const { currency, ...limits } = spendingLimits;
  const body = sim.chance.pick<object>([
    { spendingLimits: randomLimits(sim) },
    { spendingLimits: { currency } },
    { spendingLimits: limits },
    { spendingLimits, ...otherFields },
    {
      permissions: otherFields.permissions,
      defaultExecutionMode: otherFields.defaultExecutionMode,
    },
  ]);
  const updatedAgent = bodyOf(await sim.call('PATCH', `${path}/policy`, body, platform), 200);
  return `${Object.keys(body)} in ${updatedAgent.policy.spendingLimits.currency}`;
}

async function deleteAgent(sim: Sim): Promise<string> {
  const agent = sim.chance.pick(activeAgents(sim));
  const path = `/agents/${agent.id}`;
  const response = await sim.call('DELETE', path, undefined, agent.owner.platform);
  if (!response.isRepeated || response.status !== 404) bodyOf(response, 204);
  agent.isDeleted = true;
  sim.agents.splice(sim.agents.indexOf(agent), 1);
  if (agent.client) {
    const deletedResponse = await sim.call('GET', '/agents/me', undefined, agent.client);
    checkReply(deletedResponse, ['UNAUTHORIZED'], `${agent.id}, which was deleted`);
  }
  return agent.client ? 'connected before' : 'deleted';
}

/** The usage that an agent reads equals its payments. */
async function readAgent(sim: Sim): Promise<string> {
  const agent = sim.chance.pick(connectedAgents(sim));
  const { usage, isPaused } = bodyOf(
    await sim.call('GET', '/agents/me', undefined, agent.client),
    200,
  );
  const { row, paused: isPausedInModel } = policyOf(sim, agent);
  const day = new Date(sim.effects.now()).toISOString().slice(0, 10);
  const expectedUsage = row && {
    dailyTransactionCount: Number(countedOn(sim.model, row, day)),
    dailySpend: Number(usedIn(sim.model, row, day)),
    monthlySpend: Number(usedIn(sim.model, row, day.slice(0, 7))),
  };
  const mismatch = Object.entries(expectedUsage ?? {}).find(
    ([name, value]) => usage[name] !== value,
  );
  if (mismatch || isPaused !== isPausedInModel) {
    throw violation(
      `${agent.id} reads ${JSON.stringify({ ...usage, isPaused })}, expected ` +
        JSON.stringify({ ...expectedUsage, isPaused: isPausedInModel }),
    );
  }
  return JSON.stringify(expectedUsage);
}

/** The platform's list contains every pending action. */
async function listPendingActions(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  const path = '/agents/approvals?limit=100';
  const { data } = bodyOf(await sim.call('GET', path, undefined, platform), 200);
  const actualIds = (data as { id: string }[]).map(({ id }) => id).sort();
  const expectedActions = sim.pendingActions.filter(
    ({ order, agent }) => order.platform === platform && !agent.isDeleted,
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

const hasAgents = (sim: Sim) => activeAgents(sim).length > 0;
const hasConnectedAgents = (sim: Sim) => connectedAgents(sim).length > 0;

export const AGENT_MANAGEMENT: readonly Action[] = [
  {
    name: 'create an agent',
    weight: 4,
    isPossible: (sim) =>
      activeAgents(sim).length < MAX_AGENTS &&
      [...payers(sim), ...strongCustomers(sim)].some(({ id }) => id !== null),
    run: createAgent,
  },
  { name: 'renew the code of an agent', weight: 0.5, isPossible: hasAgents, run: renewCode },
  { name: 'change an agent', weight: 3, isPossible: hasAgents, run: changeAgent },
  { name: 'delete an agent', weight: 0.5, isPossible: hasAgents, run: deleteAgent },
  { name: 'read an agent', weight: 1, isPossible: hasConnectedAgents, run: readAgent },
  { name: 'list waiting agent actions', weight: 1, run: listPendingActions },
];
