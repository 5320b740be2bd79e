// Search over all resources and pages, opened with Ctrl+K or ⌘K.
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../api/client.ts';
import { usePermits } from '../api/session.tsx';
import { shortId } from '../parts/identifier.tsx';
import { customersIn, NamesButton, useNames } from '../parts/names.tsx';
import { pathOf } from '../parts/paths.ts';
import { statusText } from '../parts/status.tsx';
import { sentence } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { GROUPS } from './navigation.ts';

interface Entry {
  key: string;
  title: string;
  detail: string;
  path: string;
  /** ID of the customer of a result, for a request of the name. */
  customerId?: string | null;
}

const MIN_LETTERS = 2;

/** Each search creates an audit record, so it starts only after a pause or on Enter. */
const PAUSE_MS = 600;

/** The trimmed input, and `query`, which is the input after a pause or after `searchNow`. */
function useQueryText(text: string) {
  const trimmedText = text.trim();
  const [query, setQuery] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQuery(trimmedText), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [trimmedText]);
  return { typedText: trimmedText, query, searchNow: () => setQuery(trimmedText) };
}

function useEntries(searchText: string, query: string) {
  const permits = usePermits();
  const isLongEnough = query.length >= MIN_LETTERS;
  const results = useQuery({
    queryKey: ['searchResources', query],
    enabled: isLongEnough && permits('searchResources'),
    queryFn: ({ signal }) => call('searchResources', { body: { query }, signal }),
    // Unchanged text does not start another search.
    staleTime: 60_000,
    retry: false,
  });
  const pages = GROUPS.flatMap(({ pages: each }) => each)
    .filter(
      ({ operationId, title }) =>
        permits(operationId) && title.toLowerCase().includes(searchText.toLowerCase()),
    )
    .map(({ path, title }) => ({ key: path, title, detail: '', path }));
  const isWaiting = searchText !== query && searchText.length >= MIN_LETTERS;
  const hits = (isLongEnough && !isWaiting ? (results.data?.data ?? []) : []).flatMap(
    (hit): Entry[] => {
      const link = pathOf(hit.id, hit.kind);
      const detail = `${shortId(hit.id)} · ${TEXTS.palette.matchedBy(statusText(hit.matchedBy).toLowerCase())}`;
      const { id: key, customerId } = hit;
      return link ? [{ key, title: titleOf(hit), detail, path: link, customerId }] : [];
    },
  );
  const groups = [
    { value: TEXTS.palette.found, items: hits },
    { value: TEXTS.palette.pages, items: pages },
  ].filter(({ items }) => items.length > 0);
  return { hits, groups, isSearching: results.isFetching || isWaiting };
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
  const { typedText, query, searchNow } = useQueryText(text);
  const { hits, groups, isSearching } = useEntries(typedText, query);
  const names = useNames();
  const nameOf = ({ customerId }: Entry) => customerId && names.names.get(customerId);
  const openEntry = (entry: Entry) => {
    close();
    void navigate({ to: entry.path });
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
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || typedText === query || groups.length > 0) return;
                event.preventDefault();
                searchNow();
              }}
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
                        onClick={() => openEntry(entry)}
                      >
                        <span>{[nameOf(entry), entry.title].filter(Boolean).join(' · ')}</span>{' '}
                        <span className="soft">{entry.detail}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
            <NamesButton {...names} ids={customersIn(hits)} />
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
