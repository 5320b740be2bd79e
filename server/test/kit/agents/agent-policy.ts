// Policy evaluation with plain amounts, each in the currency of its limit.
import {
  type PaymentRequest as AgentRequest,
  evaluate,
  type Policy,
  type Verdict,
} from '../../../src/features/agents/policy/policy.ts';

export interface Spent {
  count: bigint;
  day: bigint;
  month: bigint;
}

export interface PlainRequest extends Omit<AgentRequest, 'amount' | 'forThreshold'> {
  amount: bigint;
  forThreshold: bigint | null;
}

export function evaluatePlainAmounts(
  agent: { paused: boolean; policy: Policy },
  { count, day, month }: Spent,
  { amount, forThreshold, ...request }: PlainRequest,
): Verdict {
  const { currency } = agent.policy.spendingLimits;
  const thresholdCurrency = agent.policy.approvalThresholds?.currency ?? currency;
  const spent = { count, day: { currency, amount: day }, month: { currency, amount: month } };
  return evaluate(agent, spent, {
    ...request,
    amount: { currency, amount },
    forThreshold:
      forThreshold === null ? null : { currency: thresholdCurrency, amount: forThreshold },
  });
}
