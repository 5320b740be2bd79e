// A check of all records, started by a button because it can take minutes.
import { useMutation } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import { usePermits } from '../api/session.tsx';
import { TEXTS } from '../texts/texts.ts';
import { Facts } from './facts.tsx';
import { Problem } from './feedback.tsx';
import { Panel } from './panel.tsx';

interface IntegrityCheckProps {
  id: 'verifyLedger' | 'verifyAuditRecords';
  title: string;
  text: string;
  label: string;
}

export function IntegrityCheck({ id, title, text, label }: IntegrityCheckProps) {
  const permits = usePermits();
  const { data, error, isPending, mutate } = useMutation({ mutationFn: () => call(id) });
  if (!permits(id)) return null;
  return (
    <Panel title={title}>
      <p className="soft">{text}</p>
      {error && <Problem error={error} />}
      {data && <Facts value={data as Record<string, unknown>} />}
      <button
        type="button"
        className="button primary"
        disabled={isPending}
        onClick={() => mutate()}
      >
        {isPending ? TEXTS.verifying : label}
      </button>
    </Panel>
  );
}
