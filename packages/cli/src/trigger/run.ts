// Runs a scenario: executes its calls one after the other and prints the result of each.
import { CliError } from '../exit.ts';
import { withProgress } from '../output/progress.ts';
import { isObject, shortText } from '../output/values.ts';
import { methodOf, type Session } from '../session.ts';
import { advanceClock } from '../tools/clock.ts';
import { type Call, lookUp, type Replies, resolve, type Scenario, type Step } from './step.ts';

/**
 * ID and status of the resource in a reply, or its balance instead of the status. Empty if absent.
 */
function summaryOf(reply: unknown): { id: string; status: string } {
  if (!isObject(reply)) return { id: '', status: '' };
  const resource = Array.isArray(reply.data) ? (reply.data[0] as unknown) : (reply.agent ?? reply);
  const { id, status, state, kycStatus, balance } = isObject(resource) ? resource : {};
  const text = balance ?? status ?? state ?? kycStatus;
  return { id: typeof id === 'string' ? id : '', status: shortText(text) ?? '' };
}

/** Replaces references in braces by their texts. An absent value is replaced by a dash. */
export const fillIn = (text: string, replies: Replies): string =>
  text.replaceAll(/\{([\w.-]+)\}/g, (_, path: string) => shortText(lookUp(path, replies)) || '–');

interface CallResult {
  readonly step: string;
  readonly operationId: string;
  readonly id: string;
  readonly status: string;
}

const NAME_WIDTH = 14;
const OPERATION_WIDTH = 30;

async function call(session: Session, step: Call, replies: Replies): Promise<unknown> {
  const agentToken = step.as === undefined ? undefined : String(resolve(step.as, replies));
  const client = agentToken ? await session.clientWith({ agentToken }) : session.client;
  const input = resolve(step.input ?? {}, replies) as Record<string, unknown>;
  const work = methodOf(client, step.operationId)(input);
  try {
    const reply = await withProgress(`${step.operationId} …`, work);
    if (step.rejectedWith === undefined) return reply;
  } catch (error) {
    const { code, reason } = error as { code?: string; reason?: string };
    if (step.rejectedWith !== undefined && code === step.rejectedWith)
      return { status: code, reason };
    throw error;
  }
  throw new CliError(`${step.operationId} was expected to be rejected with ${step.rejectedWith}.`, {
    hint: 'Check the values of --override.',
  });
}

export async function runScenario(
  session: Session,
  scenario: Scenario,
  steps: readonly Step[],
): Promise<void> {
  const { output } = session;
  const { dim, green, red, bold } = output.styles;
  const replies = new Map<string, unknown>();
  const callResults: CallResult[] = [];
  for (const step of steps) {
    if ('advance' in step) {
      const { currentTime } = await advanceClock(session, { advance: step.advance });
      const isAdvanced = step.advance !== 'PT0S';
      if (isAdvanced && !output.isJson) {
        const text = `advanced by ${step.advance}, now ${shortText(currentTime)} UTC`;
        output.line(`${green('✓')} ${'clock'.padEnd(NAME_WIDTH)} ${dim(text)}`);
      }
      continue;
    }
    const reply = await call(session, step, replies).catch((error: unknown) => {
      const line = `${red('✗')} ${step.name.padEnd(NAME_WIDTH)} ${dim(step.operationId)}`;
      if (!output.isJson) output.line(line);
      throw error;
    });
    replies.set(step.name, reply);
    const { id, status } = summaryOf(reply);
    callResults.push({ step: step.name, operationId: step.operationId, id, status });
    if (output.isJson) continue;
    const line = [
      step.name.padEnd(NAME_WIDTH),
      dim(step.operationId.padEnd(OPERATION_WIDTH)),
      id,
      status,
    ];
    output.line(`${green('✓')} ${line.filter(Boolean).join(' ')}`);
  }
  const outcome = fillIn(scenario.outcome, replies);
  const result = {
    scenario: scenario.name,
    outcome,
    steps: callResults,
    replies: Object.fromEntries(replies),
  };
  await output.result(result, () => [bold(outcome)]);
}
