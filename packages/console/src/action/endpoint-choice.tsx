// Select list of the webhook endpoints of a platform.
import { Field } from '@base-ui/react/field';
import { createContext, use } from 'react';
import { useReply } from '../api/queries.ts';
import { usePermits } from '../api/session.tsx';
import { statusText } from '../parts/status.tsx';
import { TEXTS } from '../texts/texts.ts';

/** The platform of the resource that a form changes. */
export const FormPlatform = createContext<string | undefined>(undefined);

/** Whether the endpoints can be listed. */
export function useEndpointChoice(): boolean {
  const permits = usePermits();
  return use(FormPlatform) !== undefined && permits('listWebhookEndpointsOfPlatform');
}

interface EndpointChoiceProps {
  value: string;
  set(value: string | undefined): void;
}

export function EndpointChoice({ value, set }: EndpointChoiceProps) {
  const platformId = use(FormPlatform) ?? '';
  const { data } = useReply('listWebhookEndpointsOfPlatform', { path: { platformId } });
  return (
    <Field.Control
      render={
        <select>
          <option value="">{TEXTS.action.allEndpoints}</option>
          {(data?.data ?? []).map(({ id, url, status, description }) => (
            <option key={id} value={id}>
              {[url ?? description ?? id, status !== 'ENABLED' && statusText(status)]
                .filter(Boolean)
                .join(' · ')}
            </option>
          ))}
        </select>
      }
      value={value}
      onChange={({ target }) => set(target.value || undefined)}
    />
  );
}
