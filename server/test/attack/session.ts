// Resources of an attack: a separate random generator and connection, the callers, and the report of all
// replies.
import type { Chance } from '../sim/harness/chance.ts';
import type { Documents, Operation } from './requests/document.ts';
import type { Rules, Sent } from './rules.ts';
import type { Call, Tenant } from './target/tenants.ts';
import type { Connection, Reply } from './target/wire.ts';

export interface Report {
  /** Requests by attack. */
  requestCounts: Map<string, number>;
  /** Replies by status. */
  statuses: Map<number, number>;
  /** Operations with a successful reply. */
  reachedOperations: Set<string>;
  slowestMs: number;
  slowestRequest: string;
  problems: string[];
}

/** The callers that all attacks share. Credentials that an attack has revoked are replaced. */
export interface Callers {
  attacker: Tenant;
  victim: Tenant;
  /** Tokens of operators: of all platforms, and of the platform of the attacker only. */
  operator: string;
  scopedOperator: string;
  renew(): Promise<void>;
}

export interface Session {
  port: number;
  chance: Chance;
  connection: Connection;
  call: Call;
  documents: Documents;
  callers: Callers;
  rules: Rules;
  report: Report;
  /** Records a reply and its problems. */
  record(sentRequest: Sent, reply: Reply | 'closed' | 'no reply', problems?: string[]): void;
}

export interface Attack {
  name: string;
  weight: number;
  run(session: Session): Promise<void>;
}

const MAX_PROBLEMS = 50;
const MAX_TEXT = 1_500;

export const newReport = (): Report => ({
  ...{ requestCounts: new Map(), statuses: new Map(), reachedOperations: new Set(), problems: [] },
  ...{ slowestMs: 0, slowestRequest: '' },
});

const increase = <K>(counts: Map<K, number>, key: K) =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Adds a problem with the request that shows it. */
export function addProblem(report: Report, sentRequest: Sent, problem: string, body = ''): void {
  if (report.problems.length >= MAX_PROBLEMS) return;
  const name =
    sentRequest.operation?.operationId ?? `${sentRequest.method} ${sentRequest.path.slice(0, 80)}`;
  report.problems.push(
    `${sentRequest.attack}: ${name}: ${problem}` +
      `\n  sent ${JSON.stringify(sentRequest.text.slice(0, MAX_TEXT))}` +
      `\n  received ${body.slice(0, 400)}`,
  );
}

export function createRecord(rules: Rules, report: Report): Session['record'] {
  return (sentRequest, reply, additionalProblems = []) => {
    increase(report.requestCounts, sentRequest.attack);
    const problems = [...rules.problemsOf(sentRequest, reply), ...additionalProblems];
    const body = typeof reply === 'string' ? reply : reply.body;
    for (const problem of problems) addProblem(report, sentRequest, problem, body);
    if (typeof reply === 'string') return;
    increase(report.statuses, reply.status);
    if (sentRequest.operation && reply.status < 300)
      report.reachedOperations.add(sentRequest.operation.operationId);
    if (reply.ms <= report.slowestMs) return;
    report.slowestMs = reply.ms;
    report.slowestRequest = sentRequest.operation?.operationId ?? sentRequest.path;
  };
}

/** The Authorization value of a caller that the operation accepts. */
export function authorizationFor({ api, isAgent, isPublic }: Operation, session: Session) {
  const { attacker, operator, scopedOperator } = session.callers;
  if (isPublic) return undefined;
  if (api === 'operator') return session.chance.percent(70) ? scopedOperator : operator;
  return isAgent ? attacker.agent : attacker.authorization;
}
