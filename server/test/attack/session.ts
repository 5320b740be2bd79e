// Resources of an attack: a separate random generator and connection, the callers, and the report of all
// replies.
import type { Chance } from '../sim/harness/chance.ts';
import type { Documents, Operation } from './requests/document.ts';
import type { Rules, Sent } from './rules.ts';
import type { Call, Tenant } from './target/tenants.ts';
import type { Connection, Reply } from './target/wire.ts';

export interface Report {
  /** Requests by attack. */
  sent: Map<string, number>;
  /** Replies by status. */
  statuses: Map<number, number>;
  /** Operations with a successful reply. */
  reached: Set<string>;
  slowestMs: number;
  slowest: string;
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
  record(sent: Sent, reply: Reply | 'closed' | 'no reply', problems?: string[]): void;
}

export interface Attack {
  name: string;
  weight: number;
  run(session: Session): Promise<void>;
}

const MAX_PROBLEMS = 50;
const MAX_TEXT = 1_500;

export const newReport = (): Report => ({
  ...{ sent: new Map(), statuses: new Map(), reached: new Set(), problems: [] },
  ...{ slowestMs: 0, slowest: '' },
});

const increase = <K>(counts: Map<K, number>, key: K) =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Adds a problem with the request that shows it. */
export function addProblem(report: Report, sent: Sent, problem: string, body = ''): void {
  if (report.problems.length >= MAX_PROBLEMS) return;
  const name = sent.operation?.operationId ?? `${sent.method} ${sent.path.slice(0, 80)}`;
  report.problems.push(
    `${sent.attack}: ${name}: ${problem}\n  sent ${JSON.stringify(sent.text.slice(0, MAX_TEXT))}` +
      `\n  received ${body.slice(0, 400)}`,
  );
}

export function createRecord(rules: Rules, report: Report): Session['record'] {
  return (sent, reply, additional = []) => {
    increase(report.sent, sent.attack);
    const problems = [...rules.problemsOf(sent, reply), ...additional];
    const body = typeof reply === 'string' ? reply : reply.body;
    for (const problem of problems) addProblem(report, sent, problem, body);
    if (typeof reply === 'string') return;
    increase(report.statuses, reply.status);
    if (sent.operation && reply.status < 300) report.reached.add(sent.operation.operationId);
    if (reply.ms <= report.slowestMs) return;
    report.slowestMs = reply.ms;
    report.slowest = sent.operation?.operationId ?? sent.path;
  };
}

/** The Authorization value of a caller that the operation accepts. */
export function authorizationFor({ api, isAgent, isPublic }: Operation, session: Session) {
  const { attacker, operator, scopedOperator } = session.callers;
  if (isPublic) return undefined;
  if (api === 'operator') return session.chance.percent(70) ? scopedOperator : operator;
  return isAgent ? attacker.agent : attacker.authorization;
}
