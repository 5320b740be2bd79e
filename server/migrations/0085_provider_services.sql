-- Providers serve more than transfers: routes select them for services, and rates can be reported. The
-- kinds of routes are validated by the server.
alter table provider_routes drop constraint if exists provider_routes_kind_check;
alter table providers add column rates text;
