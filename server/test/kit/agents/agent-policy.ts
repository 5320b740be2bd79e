// Policy evaluation with plain amounts, each in the currency of its limit.
import {
  type PaymentRequest as AgentRequest,
  evaluate,
  type Policy,
  type Verdict,
} from '../../../src/features/agents/policy/policy.ts';

export interface AgentUsage {
  count: bigint;
  day: bigint;
  month: bigint;
}

export interface PlainRequest extends Omit<AgentRequest, 'amount' | 'thresholdAmount'> {
  amount: bigint;
  thresholdAmount: bigint | null;
}

export function evaluatePlainAmounts(
  agent: { paused: boolean; policy: Policy },
  { count, day, month }: AgentUsage,
  { amount, thresholdAmount, ...request }: PlainRequest,
): Verdict {
  const { currency } = agent.policy.spendingLimits;
  const thresholdCurrency = agent.policy.approvalThresholds?.currency ?? currency;
  const spentAmounts = {
    count,
    day: { currency, amount: day },
    month: { currency, amount: month },
  };
  return evaluate(agent, spentAmounts, {
    ...request,
    amount: { currency, amount },
    thresholdAmount:
      thresholdAmount === null ? null : { currency: thresholdCurrency, amount: thresholdAmount },
  });
}
