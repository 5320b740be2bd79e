// The menu: groups of pages. The group of the current page is expanded unless the user closes it.
// Every other group has its stored state.
import { Collapsible } from '@base-ui/react/collapsible';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { usePermits } from '../api/session.tsx';
import { readStored, store } from '../parts/stored.ts';
import { GROUPS, isWithin } from './navigation.ts';

type Pages = (typeof GROUPS)[number]['pages'];

const Pages = ({ pages }: { pages: Pages }) => (
  <ul>
    {pages.map(({ path, title }) => (
      <li key={path}>
        <Link to={path} activeOptions={{ exact: path === '/', includeSearch: false }}>
          {title}
        </Link>
      </li>
    ))}
  </ul>
);

interface SectionProps {
  title: string;
  pages: Pages;
}

function Section({ title, pages }: SectionProps) {
  const { pathname } = useLocation();
  const isCurrent = pages.some(({ path }) => isWithin(pathname, path));
  const key = `menu ${title}`;
  const [isExpanded, setExpanded] = useState<boolean>(() => readStored(key, false));
  const [isClosed, close] = useState(false);
  // When the user returns to the group, the group is expanded again.
  useEffect(() => {
    if (!isCurrent) close(false);
  }, [isCurrent]);
  const isOpen = isCurrent ? !isClosed : isExpanded;
  const change = (isNextOpen: boolean) => {
    close(!isNextOpen);
    setExpanded(isNextOpen);
    store(key, isNextOpen);
  };
  return (
    <Collapsible.Root className="nav-group" open={isOpen} onOpenChange={change}>
      <Collapsible.Trigger className="nav-title">{title}</Collapsible.Trigger>
      <Collapsible.Panel>
        <Pages pages={pages} />
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}

export function Navigation() {
  const permits = usePermits();
  return GROUPS.map(({ title, pages }) => {
    const permittedPages = pages.filter(({ operationId }) => permits(operationId));
    if (permittedPages.length === 0) return null;
    if (title) return <Section key={title} title={title} pages={permittedPages} />;
    return (
      <div key="top" className="nav-group">
        <Pages pages={permittedPages} />
      </div>
    );
  });
}
