// Personal data, hidden until it is requested. The server records each request.
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, type Input, type Reply } from '../api/client.ts';
import { usePermits } from '../api/session.tsx';
import type { OperationId } from '../generated/operations.ts';
import { Problem } from '../parts/feedback.tsx';
import { TEXTS } from '../texts/texts.ts';

interface RevealProps<Id extends OperationId> {
  id: Id;
  input: Input;
  label: string;
  children: (reply: Reply<Id>) => ReactNode;
}

export function Reveal<Id extends OperationId>({ id, input, label, children }: RevealProps<Id>) {
  const permits = usePermits();
  const { data, error, isPending, mutate, reset } = useMutation<Reply<Id>>({
    mutationFn: () => call(id, input),
  });
  if (!permits(id)) return <p className="soft">{TEXTS.reveal.notPermitted}</p>;
  if (data !== undefined)
    return (
      <div className="revealed">
        {children(data)}
        <button type="button" className="button" onClick={reset}>
          {TEXTS.reveal.hide}
        </button>
      </div>
    );
  return (
    <div>
      {error ? <Problem error={error} /> : null}
      <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
        {label}
      </button>
      <p className="soft">{TEXTS.reveal.recorded}</p>
    </div>
  );
}
