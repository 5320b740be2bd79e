// The default screen of one resource.
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButtons } from '../action/action.tsx';
import type { Action } from '../action/types.ts';
import type { Reply } from '../api/client.ts';
import { useReply } from '../api/queries.ts';
import type { OperationId } from '../generated/operations.ts';
import { Facts } from './facts.tsx';
import { QueryView } from './feedback.tsx';
import { Identifier } from './identifier.tsx';
import { Panel, Screen } from './panel.tsx';
import { Status } from './status.tsx';

interface DetailProps<Id extends OperationId> {
  id: Id;
  /** Parameter of the path. */
  parameter: string;
  title: string;
  panel: string;
  status?: (reply: Reply<Id>) => string | null | undefined;
  actions?: (reply: Reply<Id>) => readonly Action[];
  hiddenFields?: readonly string[];
  children?: (reply: Reply<Id>) => ReactNode;
}

interface ReplyFactsProps<Id extends OperationId> {
  id: Id;
  path: Readonly<Record<string, string>>;
  hiddenFields?: readonly string[];
}

/** The facts of a second read, below the facts of the resource. */
export function ReplyFacts<Id extends OperationId>({
  id,
  path,
  hiddenFields,
}: ReplyFactsProps<Id>) {
  const query = useReply(id, { path });
  return (
    <QueryView query={query}>
      {(reply) => (
        <Facts value={reply as Record<string, unknown>} {...(hiddenFields && { hiddenFields })} />
      )}
    </QueryView>
  );
}

const platformOf = (reply: unknown): string | undefined => {
  const { platformId } = (reply ?? {}) as { platformId?: unknown };
  return typeof platformId === 'string' ? platformId : undefined;
};

export function Detail<Id extends OperationId>(props: DetailProps<Id>) {
  const { id, parameter, title, panel, status, actions, hiddenFields = [], children } = props;
  const { id: resourceId } = useParams({ strict: false }) as { id: string };
  const query = useReply(id, { path: { [parameter]: resourceId } });
  return (
    <QueryView query={query} title={title} lines={8}>
      {(reply) => (
        <Screen
          title={title}
          mark={status && <Status value={status(reply)} />}
          platformId={platformOf(reply)}
          subject={resourceId}
          actions={actions && <ActionButtons actions={actions(reply)} />}
        >
          <p className="sub">
            <Identifier id={resourceId} />
          </p>
          <Panel title={panel}>
            <Facts value={reply as Record<string, unknown>} hiddenFields={hiddenFields} />
          </Panel>
          {children?.(reply)}
        </Screen>
      )}
    </QueryView>
  );
}
