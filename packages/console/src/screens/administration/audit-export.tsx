// The audit records as a file of JSON lines, oldest first.
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { usePermits } from '../../api/session.tsx';
import { download } from '../../parts/csv.ts';
import { Problem } from '../../parts/feedback.tsx';
import { ADMINISTRATION_TEXTS as T } from '../../texts/administration.ts';
import { TEXTS } from '../../texts/texts.ts';

/** Maximum number of requests of an export, with up to a thousand records each. */
const MAX_REQUESTS = 100;

/** Downloads the records. Returns the number of the last record if more records exist. */
async function exportRecords(): Promise<number | undefined> {
  const parts: string[] = [];
  let lastNumber = 0;
  let hasMore = true;
  for (let count = 0; count < MAX_REQUESTS && hasMore; count++) {
    const reply = await call('exportAuditRecords', { query: { after: lastNumber } });
    parts.push(reply.lines);
    ({ after: lastNumber, hasMore } = reply);
  }
  download('audit.jsonl', parts.join(''), 'application/jsonl');
  return hasMore ? lastNumber : undefined;
}

export function AuditExport() {
  const permits = usePermits();
  const { mutate, isPending, error, data } = useMutation({ mutationFn: exportRecords });
  if (!permits('exportAuditRecords')) return null;
  return (
    <>
      <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
        {isPending ? TEXTS.list.exporting : T.exportAudit}
      </button>
      {data !== undefined && <p role="status">{T.exportedUntil(data)}</p>}
      {error && <Problem error={error} />}
    </>
  );
}
