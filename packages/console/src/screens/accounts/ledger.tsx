// The ledger: verification of the books.
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { Facts } from '../../parts/facts.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';

function Verification() {
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => call('verifyLedger'),
  });
  return (
    <Panel title={T.verification}>
      <p className="soft">{T.verifyText}</p>
      {error && <Problem error={error} />}
      {data && <Facts value={data as Record<string, unknown>} />}
      <button
        type="button"
        className="button primary"
        disabled={isPending}
        onClick={() => mutate()}
      >
        {isPending ? T.verifying : T.verify}
      </button>
    </Panel>
  );
}

export const Ledger = () => (
  <Screen title={TEXTS.pages.ledger}>
    <Verification />
  </Screen>
);
