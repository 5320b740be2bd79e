// Codes that connect agents are of no use once they ran out. For a month their platform may still ask whether
// one was redeemed.
import { forgetting } from '../../runtime/db/forget.ts';

const MONTH_MS = 30 * 24 * 3_600_000;

export const agentSweep = () =>
  forgetting('agents.forget', [
    { table: 'agent_device_codes', time: 'expires_at', keepMs: MONTH_MS },
  ]);
