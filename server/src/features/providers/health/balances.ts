// Requests the prefunded balances of providers every five minutes, so that transfers are routed to another
// provider before a balance is exhausted.
import type { Time } from '../../../kernel/effects.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../tenancy/platform/index.ts';
import type { Provider, ProviderDirectory } from '../directory.ts';
import { stageBalance } from '../usage.ts';

interface BalanceDeps {
  directory: ProviderDirectory;
  log: Log;
}

const READ_EVERY_MS = 5 * 60_000;

const isReporting = ({ terms, capabilities }: Provider): boolean =>
  terms.prefunding !== undefined && capabilities?.balances === true;

/** Stores the balances in the currencies of the terms. */
async function readBalances(runtime: Runtime, provider: Provider): Promise<void> {
  const { terms, port } = provider;
  const currencies = new Set((terms.prefunding ?? []).map(({ currency }) => currency));
  const reportedBalances = (await port.balances()).filter(({ currency }) =>
    currencies.has(currency),
  );
  for (const { currency, amount, asOf } of reportedBalances) {
    const balance = { currency, amount: BigInt(amount), asOf: Date.parse(asOf) };
    await operate(runtime, INSTALLATION, (ctx) =>
      stageBalance(ctx, provider, { ...balance, source: 'PROVIDER' }),
    );
  }
}

export function balanceSweep({ directory, log }: BalanceDeps): Sweep {
  const readTimes = new Map<string, Time>();
  return {
    name: 'providers.balances',
    async run(runtime) {
      const now = runtime.effects.now();
      const reportingProviders = [...directory.current().providers.values()].filter(
        (each) => isReporting(each) && now >= (readTimes.get(each.row.id) ?? 0) + READ_EVERY_MS,
      );
      for (const provider of reportingProviders) {
        const { id } = provider.row;
        readTimes.set(id, now);
        await readBalances(runtime, provider).catch((error: unknown) =>
          log.warn({ provider: id, err: error }, 'balances could not be read'),
        );
      }
      return reportingProviders.length;
    },
  };
}
