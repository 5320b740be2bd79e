// Search over all resources and pages, opened with Ctrl+K or ⌘K.
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { call } from '../api/client.ts';
import { usePermits } from '../api/session.tsx';
import { shortId } from '../parts/identifier.tsx';
import { placeOf } from '../parts/places.ts';
import { statusText } from '../parts/status.tsx';
import { sentence } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { GROUPS } from './navigation.ts';

interface Entry {
  key: string;
  title: string;
  detail: string;
  place: string;
}

const MIN_LETTERS = 2;

function useEntries(text: string) {
  const permits = usePermits();
  const query = useDeferredValue(text.trim());
  const isLong = query.length >= MIN_LETTERS;
  const results = useQuery({
    queryKey: ['searchResources', query],
    enabled: isLong && permits('searchResources'),
    queryFn: ({ signal }) => call('searchResources', { body: { query }, signal }),
    staleTime: 10_000,
  });
  const pages = GROUPS.flatMap(({ pages: each }) => each)
    .filter(
      ({ needs, title }) => permits(needs) && title.toLowerCase().includes(query.toLowerCase()),
    )
    .map(({ path, title }) => ({ key: path, title, detail: '', place: path }));
  const hits = (isLong ? (results.data?.data ?? []) : []).flatMap((hit): Entry[] => {
    const link = placeOf(hit.id, hit.kind);
    const detail = `${shortId(hit.id)} · ${TEXTS.palette.matchedBy(statusText(hit.matchedBy).toLowerCase())}`;
    return link ? [{ key: hit.id, title: titleOf(hit), detail, place: link }] : [];
  });
  const groups = [
    { value: TEXTS.palette.found, items: hits },
    { value: TEXTS.palette.pages, items: pages },
  ].filter(({ items }) => items.length > 0);
  return { groups, isSearching: results.isFetching };
}

/** `BUSINESS customer, APPROVED` → `Business customer, approved`. */
const titleOf = ({ title, kind }: { title: string; kind: string }): string =>
  title
    ? sentence(title.replaceAll(/\b[A-Z][A-Z_]{3,}\b/g, (code) => lowerText(code)))
    : statusText(kind);

const lowerText = (code: string): string => {
  const text = statusText(code);
  return text === code ? text : text.charAt(0).toLowerCase() + text.slice(1);
};

export function Palette({ close }: { close(): void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const { groups, isSearching } = useEntries(text);
  const go = (entry: Entry) => {
    close();
    void navigate({ to: entry.place });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label={TEXTS.palette.label}>
          <Autocomplete.Root
            items={groups}
            value={text}
            onValueChange={setText}
            itemToStringValue={(entry: Entry) => entry.title}
            filter={null}
            autoHighlight="always"
            open
            inline
          >
            <Autocomplete.Input
              className="palette-input"
              aria-label={TEXTS.palette.label}
              placeholder={TEXTS.palette.placeholder}
            />
            <Autocomplete.List className="palette-list">
              {(group: (typeof groups)[number]) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className="label">{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(entry: Entry) => (
                      <Autocomplete.Item
                        key={entry.key}
                        value={entry}
                        className="menu-item"
                        onClick={() => go(entry)}
                      >
                        <span>{entry.title}</span> <span className="soft">{entry.detail}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
            <Autocomplete.Empty>
              <p className="soft empty">
                {isSearching ? TEXTS.palette.searching : TEXTS.palette.nothing}
              </p>
            </Autocomplete.Empty>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
